import { parsePromql } from '../../../support/promql.js';
import { type Lint, withAlert } from './lint.js';

/** An alert without a comparison fires for every series there is. */
export const comparisonAtTheTop: Lint = {
  name: 'comparison-at-the-top',
  check: ({ alerts }) =>
    alerts
      .filter(({ expr }) => !parsePromql(expr).topIsComparison())
      .map(({ alert }) => `${alert}: no comparison at the top`),
  broken: (pack) =>
    withAlert(pack, 'RedisLockLost', { expr: 'sum by (store) (increase(redis_lock_lost_total[5m]))' }),
};
