import { describe, expect, it } from 'vitest';
import type { ClassicDashboard, QueryPanel } from '../../../dashboards/source/grafana-types.js';
import { queryPanels, shippedDashboards } from '../../support/panel-queries.js';

/** One rule: the faults of one dashboard, each with its place. */
export type Lint = (dashboard: ClassicDashboard) => string[];

/** A dashboard that breaks the rule, and a part of the fault that must be found. */
export interface Broken {
  readonly what: string;
  readonly dashboard: ClassicDashboard;
  readonly fault: string;
}

/** Holds the shipped dashboards against a rule, and proves on broken ones that the rule can fail. */
export function describeLint(name: string, lint: Lint, broken: readonly Broken[]): void {
  describe(name, () => {
    it.each(shippedDashboards().map((dashboard) => [dashboard.uid, dashboard] as const))(
      '%s holds it',
      (_, dashboard) => {
        expect(lint(dashboard)).toEqual([]);
      },
    );

    it.each(broken)('$what is found out', ({ dashboard, fault }) => {
      expect(lint(dashboard).join('\n')).toContain(fault);
    });
  });
}

/** A shipped dashboard to break. @throws Error when there is none. */
export function anyDashboard(): ClassicDashboard {
  const [first] = shippedDashboards();
  if (!first) throw new Error('no dashboard is shipped');
  return first;
}

/** A shipped dashboard with other fields. */
export function dashboardWith(change: Partial<ClassicDashboard>): ClassicDashboard {
  return { ...anyDashboard(), ...change };
}

/** A dashboard of one graph, with other fields of that panel. */
export function panelWith(change: object): ClassicDashboard {
  return dashboardWith({ panels: [{ ...anyGraph(), ...change } as QueryPanel] });
}

/** A dashboard of one graph with these queries, in a unit. */
export function graphOf(exprs: string | readonly string[], unit = 'short'): ClassicDashboard {
  const graph = anyGraph();
  const [target] = graph.targets;
  const list = typeof exprs === 'string' ? [exprs] : exprs;
  const { defaults, overrides } = graph.fieldConfig;
  return panelWith({
    targets: list.map((expr, index) => ({ ...target, refId: 'ABC'[index], expr, legendFormat: '' })),
    fieldConfig: { defaults: { ...defaults, unit }, overrides },
  });
}

function anyGraph(): QueryPanel {
  const graph = shippedDashboards()
    .flatMap(queryPanels)
    .find(({ type }) => type === 'timeseries');
  if (!graph) throw new Error('no graph is shipped');
  return graph;
}

/** One query of a dashboard with its place, the annotations' among them. */
export interface PlacedQuery {
  readonly where: string;
  readonly expr: string;
  readonly legend: string;
}

/** Every query of a dashboard but those of variables. */
export function queriesOf(dashboard: ClassicDashboard): PlacedQuery[] {
  return [
    ...queryPanels(dashboard).flatMap(({ title, targets }) =>
      targets.map(({ refId, expr, legendFormat }) => ({
        where: `${dashboard.uid} / ${title} / ${refId}`,
        expr,
        legend: legendFormat,
      })),
    ),
    ...dashboard.annotations.list.map(({ name, expr, titleFormat, textFormat }) => ({
      where: `${dashboard.uid} / ${name}`,
      expr,
      legend: titleFormat + textFormat,
    })),
  ];
}
