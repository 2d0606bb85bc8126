import { parsePromql } from '../../../support/promql.js';
import { expressions, type Lint, withAlert } from './lint.js';

/** Every expression is PromQL, by Prometheus's own grammar. */
export const validPromql: Lint = {
  name: 'valid-promql',
  check: (pack) =>
    expressions(pack).flatMap(({ name, expr }) =>
      parsePromql(expr)
        .errors()
        .map((at) => `${name}: ${at}`),
    ),
  broken: (pack) => withAlert(pack, 'RedisLockLost', { expr: 'sum by (store (' }),
};
