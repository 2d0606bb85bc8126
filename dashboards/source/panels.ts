import type { FieldOverride } from './grafana-types.js';
import {
  DATA_SOURCE,
  dueOf,
  type PanelSource,
  type PanelWords,
  type QuerySource,
  type Steps,
  targets,
  thresholds,
} from './panel-source.js';

/** A unit by its id in Grafana. The data are in the base unit; Grafana scales them. */
export type GrafanaUnit =
  | 's'
  | 'percentunit'
  | 'short'
  | 'none'
  | 'ops'
  | 'bytes'
  | 'dateTimeAsIso'
  | 'suffix:×';

interface WithQueries extends PanelWords {
  readonly queries: readonly QuerySource[];
  readonly unit: GrafanaUnit;
  readonly steps?: Steps;
  /** Colour below the first step. Default green. */
  readonly base?: 'green' | 'red';
}

interface StatWords extends WithQueries {
  readonly decimals?: number;
  /** Words for a value, such as 1 for "up". */
  readonly words?: Readonly<Record<string, readonly [text: string, colour: string]>>;
}

/** One number, or one per query, as of now. */
export function stat(words: StatWords): PanelSource {
  return {
    width: words.width,
    height: words.height ?? 4,
    due: dueOf(words.queries),
    panel: {
      ...head(words),
      type: 'stat',
      targets: targets(words.queries, { instant: true, format: 'time_series' }),
      options: {
        colorMode: words.steps || words.words ? 'background' : 'none',
        graphMode: 'none',
        justifyMode: 'auto',
        orientation: 'auto',
        percentChangeColorMode: 'standard',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        showPercentChange: false,
        textMode: words.queries.length > 1 ? 'value_and_name' : 'auto',
        wideLayout: true,
      },
      fieldConfig: {
        defaults: {
          ...defaults(words, true),
          ...(words.decimals === undefined ? {} : { decimals: words.decimals }),
          mappings: mappings(words.words),
        },
        overrides: [],
      },
    },
  };
}

interface SeriesWords extends WithQueries {
  /** Areas on top of each other, for parts of a whole. */
  readonly stacked?: boolean;
  /** Bars, for additions within a step. */
  readonly bars?: boolean;
  /** Draws the steps as dashed lines. */
  readonly limits?: boolean;
  /** Always shows this much time, whatever is chosen at the top: `90d`. */
  readonly timeFrom?: string;
  /** Settings for single lines. */
  readonly overrides?: readonly FieldOverride[];
}

/** Lines over time. Where there is no value the line has a gap: no traffic is not 0. */
export function timeseries(words: SeriesWords): PanelSource {
  return {
    width: words.width,
    height: words.height ?? 8,
    due: dueOf(words.queries),
    panel: {
      ...head(words),
      type: 'timeseries',
      ...(words.timeFrom === undefined ? {} : { timeFrom: words.timeFrom }),
      targets: targets(words.queries, { instant: false, format: 'time_series' }),
      options: {
        legend: {
          calcs: ['max', 'lastNotNull'],
          displayMode: 'table',
          placement: 'bottom',
          showLegend: true,
        },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
      fieldConfig: {
        defaults: {
          ...defaults(words),
          min: 0,
          custom: {
            drawStyle: words.bars ? 'bars' : 'line',
            fillOpacity: words.stacked || words.bars ? 40 : 5,
            lineWidth: 1,
            showPoints: 'auto',
            spanNulls: false,
            stacking: { mode: words.stacked ? 'normal' : 'none', group: 'A' },
            thresholdsStyle: { mode: words.limits ? 'dashed' : 'off' },
          },
        },
        overrides: words.overrides ?? [],
      },
    },
  };
}

/** Marks the line of a saturated quantile: red points on the line of the quantile. */
export const SATURATED: FieldOverride = {
  matcher: { id: 'byRegexp', options: '/beyond the largest bucket/' },
  properties: [
    { id: 'color', value: { mode: 'fixed', fixedColor: 'red' } },
    { id: 'custom.drawStyle', value: 'points' },
    { id: 'custom.pointSize', value: 8 },
  ],
};

/** How observations spread over the buckets of a histogram, over time. */
export function heatmap(words: Omit<WithQueries, 'steps'>): PanelSource {
  return {
    width: words.width,
    height: words.height ?? 8,
    due: dueOf(words.queries),
    panel: {
      ...head(words),
      type: 'heatmap',
      targets: targets(words.queries, { instant: false, format: 'heatmap' }),
      options: {
        calculate: false,
        cellGap: 1,
        cellValues: { unit: 'short' },
        color: {
          exponent: 0.5,
          fill: 'dark-orange',
          mode: 'scheme',
          reverse: false,
          scale: 'exponential',
          scheme: 'Oranges',
          steps: 64,
        },
        exemplars: { color: 'rgba(255,0,255,0.7)' },
        filterValues: { le: 1e-9 },
        legend: { show: true },
        rowsFrame: { layout: 'auto' },
        showValue: 'never',
        tooltip: { mode: 'single', yHistogram: true },
        yAxis: { axisPlacement: 'left', reverse: false, unit: words.unit },
      },
      fieldConfig: { defaults: defaults(words), overrides: [] },
    },
  };
}

interface TimelineWords extends WithQueries {
  readonly words: Readonly<Record<string, readonly [text: string, colour: string]>>;
}

/** A state over time, one line for each series. */
export function timeline(words: TimelineWords): PanelSource {
  return {
    width: words.width,
    height: words.height ?? 6,
    due: dueOf(words.queries),
    panel: {
      ...head(words),
      type: 'state-timeline',
      targets: targets(words.queries, { instant: false, format: 'time_series' }),
      options: {
        alignValue: 'left',
        legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
        mergeValues: true,
        rowHeight: 0.9,
        showValue: 'auto',
        tooltip: { mode: 'single', sort: 'none' },
      },
      fieldConfig: {
        defaults: {
          ...defaults(words),
          mappings: mappings(words.words),
          custom: { fillOpacity: 70, lineWidth: 0 },
        },
        overrides: [],
      },
    },
  };
}

/** What panels of every kind have. */
export function head(words: PanelWords) {
  return { title: words.title, description: words.description, datasource: DATA_SOURCE };
}

function defaults(words: Omit<WithQueries, 'queries'>, coloured = false) {
  // Lines keep their own colours; their steps are drawn as limits.
  const mode = coloured ? 'thresholds' : 'palette-classic';
  return {
    unit: words.unit,
    noValue: words.noData,
    color: { mode } as const,
    thresholds: thresholds(words.steps ?? [], words.base),
  };
}

function mappings(words: StatWords['words']) {
  if (!words) return [];
  const options = Object.entries(words).map(
    ([value, [text, color]], index) => [value, { text, color, index }] as const,
  );
  return [{ type: 'value', options: Object.fromEntries(options) } as const];
}
