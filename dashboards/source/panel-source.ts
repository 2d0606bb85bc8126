import type { Plain, PromTarget, QueryPanel } from './grafana-types.js';
import type { DashboardUid } from './links.js';

/**
 * When a query must give data. `alive`: whenever an exporter is scraped; `load`: once clients take locks; `trouble`:
 * only when something is wrong that the demo does not show; `planned`: once a planned family exists; `minutes`: after
 * a few full minutes of load; `daily`: with the daily recording rules; `weeks`: when there is data of the week before.
 */
export type Due = 'alive' | 'load' | 'trouble' | 'planned' | 'minutes' | 'daily' | 'weeks';

/** One query of a panel. */
export interface QuerySource {
  readonly expr: string;
  /** How its lines are called: `{{store}} {{resource}}`. */
  readonly legend?: string;
  /** Default `load`. */
  readonly due?: Due;
}

/** What every panel says. */
export interface PanelWords {
  readonly title: string;
  /** What good looks like, and what to do if it does not. */
  readonly description: string;
  /** Shown instead of "No data". */
  readonly noData: string;
  /** Columns of 24. */
  readonly width: number;
  /** Rows of the grid; default by kind. */
  readonly height?: number;
}

/** A panel before it has a number and a place. */
export interface PanelSource {
  readonly width: number;
  readonly height: number;
  readonly panel: WithoutPlace<QueryPanel>;
  /** By reference id of the query. */
  readonly due: ReadonlyMap<string, Due>;
}

type WithoutPlace<Panel> = Panel extends QueryPanel ? Omit<Panel, 'id' | 'gridPos'> : never;

/** A heading with its panels, which flow from left to right. */
export interface Section {
  readonly title: string;
  readonly panels: readonly PanelSource[];
}

/** One dashboard. */
export interface DashboardSource {
  /** `redis-lock-overview`; also the name of its file. Never changes: links and alerts name it. */
  readonly uid: DashboardUid;
  readonly description: string;
  /** What is shown at first, such as `now-6h`. */
  readonly from: string;
  readonly refresh: string;
  readonly sections: readonly Section[];
}

/** The data source of everything: the variable, so that a dashboard works with any Prometheus and can switch. */
export const DATA_SOURCE = { type: 'prometheus', uid: `\${datasource}` } as const;

/** Colours from a value on: green below the first step. */
export type Steps = readonly (readonly [from: number, colour: 'orange' | 'red' | 'green' | 'yellow'])[];

/** Thresholds in the unit of the data, never in the unit of the display. */
export function thresholds(steps: Steps, base = 'green') {
  const rest = steps.map(([value, color]) => ({ color, value }));
  return { mode: 'absolute', steps: [{ color: base, value: null }, ...rest] } as unknown as Thresholds;
}

// Grafana's own files have null for the lowest step; the published type says number.
type Thresholds = NonNullable<Plain<import('@grafana/schema').FieldConfig>['thresholds']>;

/** How a query is asked: over time, or once for now. */
export interface Asking {
  readonly instant: boolean;
  readonly format: PromTarget['format'];
}

/** The queries of a panel as Grafana has them: A, B, C … */
export function targets(queries: readonly QuerySource[], asking: Asking): readonly PromTarget[] {
  return queries.map(({ expr, legend = '__auto' }, index) => ({
    refId: refId(index),
    datasource: DATA_SOURCE,
    expr,
    editorMode: 'code',
    legendFormat: legend,
    format: asking.format,
    instant: asking.instant,
    range: !asking.instant,
  }));
}

/** When each query of a panel must give data. */
export function dueOf(queries: readonly QuerySource[]): ReadonlyMap<string, Due> {
  return new Map(queries.map(({ due = 'load' }, index) => [refId(index), due]));
}

function refId(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}
