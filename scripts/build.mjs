// Compiles to dist/ and puts beside the output what is not TypeScript.
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './setup.mjs';

rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json']);
for (const name of readdirSync(join(ROOT, 'lua')).filter((file) => file.endsWith('.lua'))) {
  cpSync(join(ROOT, 'lua', name), join(ROOT, 'dist', 'lua', name));
}
