import { parsePromql } from '../../../support/promql.js';
import { isCumulative } from '../families.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/**
 * A counter starts again at 0 with each process: only rate and increase know that, and only directly on it. A rate
 * of a sum sees the restart of one exporter as a huge step.
 */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr }) => [
    ...parsePromql(expr)
      .selectors()
      .filter(({ name }) => isCumulative(name))
      .filter(({ within: [inner], range }) => !range || (inner !== 'rate' && inner !== 'increase'))
      .map(({ name }) => `${where}: ${name} outside of rate and increase`),
    ...parsePromql(expr)
      .selectors()
      .filter(({ name }) => !isCumulative(name))
      .filter(({ within }) => within.includes('rate') || within.includes('increase'))
      .map(({ name }) => `${where}: ${name} is no counter`),
  ]);

const LOST = 'redis_lock_lost_total{job=~"$job"}';

// D4: prometheus/prometheus#12967, #7074; prometheus/client_js#364; OutlineFoundation/outline-server#893: a rate over a
// sum makes a false spike when one pod restarts.
describeLint('counters are only seen through rate or increase (D4)', lint, [
  { what: 'a bare counter', dashboard: graphOf(`sum(${LOST})`), fault: 'outside of rate' },
  {
    what: 'a bare bucket',
    dashboard: graphOf('redis_lock_hold_seconds_bucket'),
    fault: 'redis_lock_hold_seconds_bucket outside of rate',
  },
  {
    what: 'a rate of a sum',
    dashboard: graphOf(`increase(sum(${LOST})[10m:1m])`),
    fault: 'redis_lock_lost_total outside of rate',
  },
  {
    what: 'delta of a counter',
    dashboard: graphOf(`delta(${LOST}[10m])`),
    fault: 'redis_lock_lost_total outside of rate',
  },
  {
    what: 'a rate of a gauge',
    dashboard: graphOf('rate(redis_lock_keys[$__rate_interval])'),
    fault: 'redis_lock_keys is no counter',
  },
]);
