import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../families.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/** Several exporters may sample one Redis: a sum over them counts a key twice. The largest is taken first. */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr }) =>
    parsePromql(expr)
      .selectors()
      .filter(({ name, within }) => isSampled(name) && !isOneByOne(within))
      .map(({ name }) => `${where}: ${name} is counted once for each exporter`),
  );

/** Of Redis, not of the sampling itself: errors and durations are each exporter's own. */
function isSampled(name: string): boolean {
  const family = familyOf(name);
  if (family?.source !== 'sample') return false;
  return family.type === 'gauge' || family.labels.includes('resource');
}

/** The largest or smallest is taken first, or each exporter stays by itself. */
function isOneByOne(within: readonly string[]): boolean {
  const outer = within.find((name) => name !== 'rate' && name !== 'increase');
  return outer !== undefined && ['max', 'min', 'changes', 'avg_over_time'].includes(outer);
}

describeLint('what several exporters sample is counted once', lint, [
  {
    what: 'a sum',
    dashboard: graphOf('sum by (store) (redis_lock_keys)'),
    fault: 'redis_lock_keys is counted once for each exporter',
  },
  {
    what: 'a sum of what each saw happen',
    dashboard: graphOf('sum(rate(redis_lock_observed_expired_total[$__rate_interval]))'),
    fault: 'is counted once',
  },
  { what: 'an average', dashboard: graphOf('avg(redis_lock_oldest_hold_seconds)'), fault: 'is counted once' },
]);
