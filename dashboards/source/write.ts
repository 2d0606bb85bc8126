// `npm run dashboards`: writes dashboards/generated/ and dashboards/import/.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dashboardFiles } from './outputs.js';

const target = join(process.cwd(), 'dashboards');
for (const folder of ['generated', 'import']) rmSync(join(target, folder), { recursive: true, force: true });
for (const [path, text] of dashboardFiles()) {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  writeFileSync(join(target, path), text);
}
