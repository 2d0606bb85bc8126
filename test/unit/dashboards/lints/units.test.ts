import type { QueryPanel } from '../../../../dashboards/source/grafana-types.js';
import { queryPanels } from '../../../support/panel-queries.js';
import { describeLint, graphOf, type Lint, panelWith } from '../lint.js';
import { type Measure, measureOf, measureOfBuckets } from '../unit-of.js';

/** The unit shown is that of the data: seconds are never shown as milliseconds, a ratio is in percent or ×. */
const lint: Lint = (dashboard) =>
  queryPanels(dashboard).flatMap((panel) =>
    panel.targets.flatMap(({ expr, refId }) =>
      faultsOf(panel, expr, refId).map((fault) => `${dashboard.uid} / ${panel.title} / ${refId}: ${fault}`),
    ),
  );

/** Of a heatmap, the cells count and the axis is in the unit of what was observed. */
function faultsOf(panel: QueryPanel, expr: string, refId: string): string[] {
  if (panel.type !== 'heatmap') return judge(() => measureOf(expr), unitOf(panel, refId));
  const { cellValues, yAxis } = panel.options;
  return [
    ...judge(() => measureOf(expr), cellValues?.unit ?? ''),
    ...judge(() => measureOfBuckets(expr), yAxis.unit ?? ''),
  ];
}

/** Of a table, the unit of the column that the query fills. */
function unitOf(panel: QueryPanel, refId: string): string {
  const { defaults, overrides } = panel.fieldConfig;
  if (panel.type !== 'table') return defaults.unit;
  const organize = panel.transformations?.find(({ id }) => id === 'organize')?.options;
  const names = (organize as { renameByName?: Record<string, string> } | undefined)?.renameByName ?? {};
  const column = names[`Value #${refId}`] ?? names.Value;
  const properties = overrides.find(({ matcher }) => matcher.options === column)?.properties ?? [];
  return String(properties.find(({ id }) => id === 'unit')?.value);
}

function judge(measured: () => Measure, unit: string): string[] {
  try {
    const found = measured();
    return fits(found, unit) ? [] : [`${unit} does not fit ${JSON.stringify(found)}`];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function fits(measured: Measure, unit: string): boolean {
  if (measured === 'number' || measured === 'time') return false;
  const { s, bytes, things } = measured;
  const powers = `s${s} bytes${bytes} things${things}`;
  switch (unit) {
    case 's':
      // Seconds for each thing, and as many times as there are things, are seconds.
      return s === 1 && bytes === 0;
    case 'bytes':
      return powers === 's0 bytes1 things0';
    case 'ops':
      return powers === 's-1 bytes0 things1';
    case 'short':
      return powers === 's0 bytes0 things1';
    case 'percentunit':
    case 'suffix:×':
    case 'none':
      return powers === 's0 bytes0 things0';
    default:
      return false;
  }
}

const HOLD =
  'histogram_quantile(0.99, sum by (le) (rate(redis_lock_hold_seconds_bucket[$__rate_interval]))) >= 0';

// D8: fluxcd/flagger#1161; grafana/loki#22155, #13260; rustyrazorblade/easy-db-lab#908: milliseconds shown as seconds.
describeLint('the unit is that of the data (D8)', lint, [
  { what: 'seconds as milliseconds', dashboard: graphOf(HOLD, 'ms'), fault: 'ms does not fit' },
  { what: 'seconds as a ratio', dashboard: graphOf(HOLD, 'percentunit'), fault: 'percentunit does not fit' },
  {
    what: 'a ratio as seconds',
    dashboard: graphOf('max by (store) (redis_lock_last_hold_lease_ratio)', 's'),
    fault: 's does not fit',
  },
  {
    what: 'a number each second as a number',
    dashboard: graphOf('sum(rate(redis_lock_lost_total[$__rate_interval]))', 'short'),
    fault: 'short does not fit',
  },
  {
    what: 'a percentage of 100',
    dashboard: graphOf('redis_lock_hot_busy_ratio', 'percent'),
    fault: 'percent does not',
  },
  {
    what: 'seconds plus a number of keys',
    dashboard: graphOf('redis_lock_oldest_hold_seconds + redis_lock_keys', 's'),
    fault: 'do not fit',
  },
  {
    what: 'a time of the clock as a duration',
    dashboard: graphOf('max(redis_lock_sample_timestamp_seconds)', 's'),
    fault: 's does not fit "time"',
  },
  {
    what: 'a panel without a unit',
    dashboard: panelWith({ fieldConfig: { defaults: {}, overrides: [] } }),
    fault: 'undefined does not fit',
  },
]);
