import { parsePromql } from '../../../support/promql.js';
import { expressions, type Lint, withAlert } from './lint.js';

/** Prometheus 2 stores `le="1"`, Prometheus 3 `le="1.0"`: a whole bound is matched as either or not at all. */
export const noExactLe: Lint = {
  name: 'no-exact-le',
  check: (pack) =>
    expressions(pack).flatMap(({ name, expr }) =>
      parsePromql(expr)
        .selectors()
        .flatMap(({ matchers }) => matchers)
        .filter(({ label, op, value }) => label === 'le' && op === '=' && /^\d+$/.test(value))
        .map(({ value }) => `${name}: le="${value}"`),
    ),
  broken: (pack) =>
    withAlert(pack, 'RedisLockHoldBeyondLease', {
      expr: 'rate(redis_lock_hold_lease_ratio_bucket{le="1"}[5m]) > 0',
    }),
};
