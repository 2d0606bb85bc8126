// Compiles to dist/ and puts beside the output what is not TypeScript. dist/ is replaced at the end, by two renames, so
// that a build that fails or is interrupted leaves the last good one.
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BUILD_STAMP, fail, ROOT, run } from './setup.mjs';

const target = join(ROOT, 'dist');
const fresh = join(ROOT, '.cache', `dist-${process.pid}`);
const old = join(ROOT, '.cache', `old-${process.pid}`);
process.on('exit', () => {
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
});

mkdirSync(fresh, { recursive: true });
writeFileSync(join(fresh, basename(BUILD_STAMP)), '');
const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh]);
mkdirSync(join(fresh, 'lua'), { recursive: true });
for (const name of readdirSync(join(ROOT, 'lua')).filter((file) => file.endsWith('.lua'))) {
  cpSync(join(ROOT, 'lua', name), join(fresh, 'lua', name));
}
if (!replace()) fail('dist/ could not be replaced: another build goes on in this folder.');

/** Another build may be replacing it at the same moment. */
function replace() {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (rename(fresh, target)) return true;
    rename(target, old);
    rmSync(old, { recursive: true, force: true, maxRetries: 0 });
  }
  return false;
}

function rename(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}
