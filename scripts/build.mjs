// Compiles to dist/ and puts beside the output what is not TypeScript. dist/ is replaced at the end, by two renames, so
// that a build that fails or is interrupted leaves the last good one.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './setup.mjs';

const target = join(ROOT, 'dist');
const fresh = join(ROOT, '.cache', `dist-${process.pid}`);
const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
rmSync(fresh, { recursive: true, force: true });
mkdirSync(join(ROOT, '.cache'), { recursive: true });
run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh]);
for (const name of readdirSync(join(ROOT, 'lua')).filter((file) => file.endsWith('.lua'))) {
  cpSync(join(ROOT, 'lua', name), join(fresh, 'lua', name));
}
const old = join(ROOT, '.cache', `old-${process.pid}`);
if (existsSync(target)) renameSync(target, old);
renameSync(fresh, target);
rmSync(old, { recursive: true, force: true });
