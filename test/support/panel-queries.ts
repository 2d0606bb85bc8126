import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ANNOTATIONS } from '../../dashboards/source/annotations.js';
import { dashboardSources } from '../../dashboards/source/dashboards.js';
import type { ClassicDashboard, QueryPanel } from '../../dashboards/source/grafana-types.js';
import type { Due } from '../../dashboards/source/panel-source.js';

const GENERATED = fileURLToPath(new URL('../../dashboards/generated', import.meta.url));

/** One query of a shipped dashboard. */
export interface DashboardQuery {
  /** `redis-lock-overview / Overlaps / A`, for messages. */
  readonly where: string;
  readonly kind: 'panel' | 'annotation';
  /** Asked once for now, and not over the time shown. */
  readonly instant: boolean;
  /** With its variables. */
  readonly expr: string;
  /** When it must give data. */
  readonly due: Due;
}

/** One query of a variable: the values of a label among the series of a selector. */
export interface VariableQuery {
  readonly where: string;
  readonly selector: string;
  readonly label: string;
}

/** Values for the variables at the top; those not named are All. A list is a choice of several. */
export type Choice = Readonly<Record<string, string | readonly string[]>>;

/** What Grafana works out from the time shown and the scrape interval. */
export interface Times {
  readonly rateInterval: string;
  readonly range: string;
}

/** The dashboards as they are shipped. */
export function shippedDashboards(): ClassicDashboard[] {
  return readdirSync(GENERATED)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(GENERATED, name), 'utf8')) as ClassicDashboard);
}

/** The panels of a dashboard that have queries. */
export function queryPanels(dashboard: ClassicDashboard): QueryPanel[] {
  return dashboard.panels.filter((panel): panel is QueryPanel => panel.type !== 'row');
}

/** Every panel query and annotation query of some dashboards, by default of all that are shipped. */
export function listQueries(dashboards = shippedDashboards()): DashboardQuery[] {
  const due = dueByPlace();
  return dashboards.flatMap((dashboard) => [
    ...queryPanels(dashboard).flatMap(({ title, targets }) =>
      targets.map(({ refId, expr, instant }) => {
        const where = `${dashboard.uid} / ${title} / ${refId}`;
        return { where, kind: 'panel' as const, instant, expr, due: due.get(where) ?? 'load' };
      }),
    ),
    ...dashboard.annotations.list.map(({ name, expr }) => {
      const source = ANNOTATIONS.find((annotation) => annotation.name === name);
      return {
        where: `${dashboard.uid} / ${name}`,
        kind: 'annotation' as const,
        instant: false,
        expr,
        due: source?.due ?? 'load',
      };
    }),
  ]);
}

function dueByPlace(): Map<string, Due> {
  const panels = dashboardSources().flatMap(({ uid, sections }) =>
    sections.flatMap((section) => section.panels.map((source) => ({ uid, source }))),
  );
  return new Map(
    panels.flatMap(({ uid, source }) =>
      [...source.due].map(([refId, due]) => [`${uid} / ${source.panel.title} / ${refId}`, due] as const),
    ),
  );
}

/** Every query of a variable. @throws Error for one that is no `label_values(selector, label)`. */
export function listVariableQueries(dashboards = shippedDashboards()): VariableQuery[] {
  return dashboards.flatMap((dashboard) =>
    dashboard.templating.list
      .filter(({ type }) => type === 'query')
      .map(({ name, query }) => {
        const text = typeof query === 'object' ? String(query.query) : String(query);
        const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
        if (!selector || !label) throw new Error(`${dashboard.uid} / ${name}: not understood: ${text}`);
        return { where: `${dashboard.uid} / ${name}`, selector, label };
      }),
  );
}

/**
 * A query as Grafana sends it to Prometheus: times filled in, All as `.*`, chosen values as a regular expression
 * that is escaped as Grafana's Prometheus data source does it.
 */
export function substitute(expr: string, times: Times, choice: Choice = {}): string {
  return expr.replace(/\$(\w+)/g, (_, name: string) => {
    if (name === '__rate_interval') return times.rateInterval;
    if (name === '__range') return times.range;
    return chosen(choice[name]);
  });
}

function chosen(value: string | readonly string[] | undefined): string {
  if (value === undefined) return '.*';
  if (typeof value === 'string') return escapeRegex(value);
  const [only] = value;
  return value.length === 1 && only !== undefined
    ? escapeRegex(only)
    : `(${value.map(escapeRegex).join('|')})`;
}

/** Escaped twice: for the regular expression, and for the string in PromQL that holds it. */
function escapeRegex(value: string): string {
  return value.replaceAll('\\', '\\\\\\\\').replaceAll(/[$^*{}[\]+?.()|]/g, '\\\\$&');
}
