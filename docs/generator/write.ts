// `npm run docs`: writes docs/reference/.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePages } from './pages.js';

const target = join(process.cwd(), 'docs', 'reference');
mkdirSync(target, { recursive: true });
// The files of the public API stand there too; they come from a test.
for (const name of readdirSync(target).filter((file) => file.endsWith('.md') || file === 'schema')) {
  rmSync(join(target, name), { recursive: true });
}
for (const [path, text] of referencePages()) {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  writeFileSync(join(target, path), text);
}
