import { parsePromql } from '../../../support/promql.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/** Without `le` there is nothing left to take a quantile of: the panel would be empty for ever. */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr }) => [
    ...parsePromql(expr)
      .aggregations()
      .filter(({ body }) => ofBuckets(body))
      .filter(({ by, without }) => (by ? !by.includes('le') : !without || without.includes('le')))
      .filter(({ op }) => op === 'sum')
      .map(({ body }) => `${where}: le is lost over ${body.slice(0, 60)}`),
    ...parsePromql(expr)
      .selectors()
      .filter(({ name, within }) => within.includes('histogram_quantile') && !name.endsWith('_bucket'))
      .filter(({ within }) => within.indexOf('histogram_quantile') <= 2)
      .map(({ name }) => `${where}: a quantile of ${name}, which has no buckets`),
  ]);

/** Directly over the rate of buckets, not over a quantile of them. */
function ofBuckets(body: string): boolean {
  return parsePromql(body)
    .selectors()
    .some(({ name, within }) => name.endsWith('_bucket') && within.length === 1);
}

const RATE = 'rate(redis_lock_hold_seconds_bucket[$__rate_interval])';

describeLint('quantiles keep le', lint, [
  {
    what: 'a sum by other labels',
    dashboard: graphOf(`histogram_quantile(0.99, sum by (store) (${RATE}))`),
    fault: 'le is lost',
  },
  {
    what: 'a sum without le',
    dashboard: graphOf(`histogram_quantile(0.99, sum without (le) (${RATE}))`),
    fault: 'le is lost',
  },
  { what: 'a sum of all', dashboard: graphOf(`histogram_quantile(0.99, sum(${RATE}))`), fault: 'le is lost' },
  {
    what: 'a quantile of a count',
    dashboard: graphOf(
      'histogram_quantile(0.99, sum by (le) (rate(redis_lock_hold_seconds_count[$__rate_interval])))',
    ),
    fault: 'has no buckets',
  },
]);
