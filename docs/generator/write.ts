// `npm run docs`: writes docs/reference/.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { referencePages } from './pages.js';

const target = join(process.cwd(), 'docs', 'reference');
rmSync(target, { recursive: true, force: true });
for (const [path, text] of referencePages()) {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  writeFileSync(join(target, path), text);
}
