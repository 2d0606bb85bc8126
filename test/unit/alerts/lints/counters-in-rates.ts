import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../known-families.js';
import { expressions, type Lint, type Pack, withAlert } from './lint.js';

const RATES = ['rate', 'increase'];

/** A counter alone says nothing, and falls with each restart; a sum before the rate makes a spike of it. */
export const countersInRates: Lint = {
  name: 'counters-in-rates',
  check: (pack) =>
    expressions(pack).flatMap(({ name, expr }) => bare(expr, pack).map((fault) => `${name}: ${fault}`)),
  broken: (pack) =>
    withAlert(pack, 'RedisLockLost', {
      expr: 'increase(sum by (cluster, namespace, job, store) (redis_lock_lost_total)[5m:]) > 0',
    }),
};

function bare(expr: string, { families }: Pack): string[] {
  return parsePromql(expr)
    .selectors()
    .flatMap(({ name, within }) => {
      const family = familyOf(name, families);
      const counts = family?.type === 'counter' || family?.type === 'histogram';
      if (counts && !RATES.includes(within[0] ?? '')) return [`${name} is not right inside rate or increase`];
      return family?.type === 'gauge' && RATES.includes(within[0] ?? '') ? [`${name} is no counter`] : [];
    });
}
