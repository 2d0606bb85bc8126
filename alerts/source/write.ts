// `npm run alerts`: writes the rule files. Other addresses or times: see alerts/README.md.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ruleFiles, testFiles } from './files.js';
import { scaleRouting } from './routing.js';
import { DEFAULT_OPTIONS } from './rule.js';
import { scaleDurations, THRESHOLDS } from './thresholds.js';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'alerts' },
    job: { type: 'string', default: DEFAULT_OPTIONS.job },
    runbooks: { type: 'string', default: DEFAULT_OPTIONS.links.runbooks },
    grafana: { type: 'string', default: DEFAULT_OPTIONS.links.grafana },
    faster: { type: 'string', default: '1' },
  },
});

const factor = Number(values.faster);
if (!(factor > 0)) throw new Error('--faster takes a number above 0, such as 10');
if (factor !== 1 && values.out === 'alerts')
  throw new Error('--faster needs --out: alerts/ has the shipped times');
const links = { runbooks: values.runbooks, grafana: values.grafana };
for (const [name, text] of ruleFiles(scaleDurations(THRESHOLDS, factor), { job: values.job, links })) {
  writeFileSync(join(values.out, name), text);
}
// Who is told when goes with the rules.
if (factor !== 1) {
  const routing = readFileSync(join('alerts', 'alertmanager.yml'), 'utf8');
  writeFileSync(join(values.out, 'alertmanager.yml'), scaleRouting(routing, factor));
}

// The tests belong to the shipped rules.
if (values.out === 'alerts') {
  const folder = join('alerts', 'tests');
  // Near misses and field cases are written by hand and stay.
  const generated = readdirSync(folder).filter((name) => name.startsWith('RedisLock'));
  for (const name of generated) rmSync(join(folder, name));
  for (const [name, text] of testFiles()) writeFileSync(join('alerts', name), text);
}
