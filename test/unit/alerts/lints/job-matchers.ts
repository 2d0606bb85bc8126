import { parsePromql } from '../../../support/promql.js';
import { expressions, type Lint, withAlert } from './lint.js';

/** Series that every job has are asked of the exporters only. */
export const jobMatchers: Lint = {
  name: 'job-matchers',
  check: (pack) =>
    expressions(pack).flatMap(({ name, expr }) =>
      parsePromql(expr)
        .selectors()
        .filter((selector) => /^(up|scrape_|process_|nodejs_)/.test(selector.name))
        .filter(({ matchers }) => !matchers.some(({ label, op }) => label === 'job' && op === '='))
        .map((selector) => `${name}: ${selector.name} without job="…"`),
    ),
  broken: (pack) => withAlert(pack, 'RedisLockExporterDown', { expr: 'max_over_time(up[2m]) == 0' }),
};
