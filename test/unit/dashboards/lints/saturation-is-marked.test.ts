import { queryPanels } from '../../../support/panel-queries.js';
import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../families.js';
import { describeLint, graphOf, type Lint } from '../lint.js';

/**
 * A quantile at the largest bucket may in truth be anything above: a graph of a high quantile marks it by a second
 * query that has a value only there.
 */
const lint: Lint = (dashboard) =>
  queryPanels(dashboard)
    .filter(({ type }) => type === 'timeseries')
    .flatMap(({ title, targets, fieldConfig }) => {
      const quantiles = targets.flatMap(({ expr }) => highQuantiles(expr));
      const shown = quantiles.filter(({ floor }) => floor === 0);
      const marked = fieldConfig.overrides.some(({ matcher }) => matcher.options.includes('largest bucket'));
      return shown
        .filter(
          ({ series }) => !quantiles.some((other) => other.series === series && isTop(other)) || !marked,
        )
        .map(({ series }) => `${dashboard.uid} / ${title}: saturation of ${series} is not marked`);
    });

interface Quantile {
  series: string;
  /** What it is compared with. */
  floor: number;
}

function highQuantiles(expr: string): Quantile[] {
  return parsePromql(expr)
    .binaries()
    .filter(({ op, left }) => op === '>=' && /^histogram_quantile\(0\.9\d*,/.test(left))
    .map(({ left, right }) => ({
      series: parsePromql(left).selectors()[0]?.name ?? '',
      floor: Number(right),
    }));
}

function isTop({ series, floor }: Quantile): boolean {
  const family = familyOf(series);
  return family?.type === 'histogram' && floor === Math.max(...family.buckets);
}

const P99 = 'histogram_quantile(0.99, sum by (le) (rate(redis_lock_hold_seconds_bucket[$__rate_interval])))';

// D3: prometheus/prometheus#13020, #12740; scylladb/scylladb#20255: a quantile saturates at the top finite bucket.
describeLint('a saturated quantile is marked (D3)', lint, [
  { what: 'no mark', dashboard: graphOf(`${P99} >= 0`), fault: 'is not marked' },
  {
    what: 'a mark at another bucket',
    dashboard: graphOf([`${P99} >= 0`, `${P99} >= 60`]),
    fault: 'is not marked',
  },
]);
