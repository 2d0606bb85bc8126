import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../known-families.js';
import { expressions, type Lint, type Pack, withAlert } from './lint.js';

/** A quantile keeps `le`, and never exceeds the largest finite bucket: that one lies beyond the threshold. */
export const quantileBounds: Lint = {
  name: 'quantile-bounds',
  check: (pack) =>
    expressions(pack).flatMap(({ name, expr }) => faults(expr, pack).map((fault) => `${name}: ${fault}`)),
  broken: (pack) =>
    withAlert(pack, 'RedisLockHoldBeyondLease', {
      expr: 'histogram_quantile(0.99, sum by (cluster, namespace, job, store, le) (rate(redis_lock_hold_lease_ratio_bucket[5m]))) > 10',
    }),
};

function faults(expr: string, { families }: Pack): string[] {
  const tree = parsePromql(expr);
  const sums = tree
    .aggregations()
    .filter(({ body }) => /_bucket\b/.test(body) && !body.includes('histogram_quantile'));
  const limits = tree
    .binaries()
    .filter(({ op, left }) => op === '>' && left.startsWith('histogram_quantile'));
  return [
    ...sums.filter(({ by }) => !by?.includes('le')).map(({ op }) => `${op} drops le`),
    ...limits
      .filter(({ left, right }) => Number(right) >= topBucket(left, families))
      .map(({ right }) => `no bucket beyond ${right}`),
  ];
}

function topBucket(expr: string, families: Pack['families']): number {
  const [selector] = parsePromql(expr).selectors();
  return Math.max(...(familyOf(selector?.name ?? '', families)?.buckets ?? []));
}
