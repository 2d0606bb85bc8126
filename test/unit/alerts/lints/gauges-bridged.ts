import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../known-families.js';
import { type Lint, type Pack, withAlert } from './lint.js';

/** One failed scrape must not restart `for`: an alert reads a gauge over a window. */
export const gaugesBridged: Lint = {
  name: 'gauges-bridged',
  check: (pack) =>
    pack.alerts.flatMap(({ alert, expr }) =>
      bare(expr, pack).map((name) => `${alert}: ${name} has no window`),
    ),
  broken: (pack) => withAlert(pack, 'RedisLockOrphanKeys', { expr: 'redis_lock_orphan_keys > 0' }),
};

function bare(expr: string, { families }: Pack): string[] {
  const gauges = parsePromql(expr)
    .selectors()
    .filter(({ name, range }) => familyOf(name, families)?.type === 'gauge' && range === undefined);
  return gauges.map(({ name }) => name);
}
