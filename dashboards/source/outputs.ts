import { buildDashboard } from './build-dashboard.js';
import { dashboardSources } from './dashboards.js';
import type { ClassicDashboard } from './grafana-types.js';
import { jsonText } from './json-text.js';

/** Oldest version of Grafana that the dashboards are written for: state timelines, `${__all}` and `$__rate_interval` are there. */
const OLDEST_GRAFANA = '10.0.0';

/** Names of the panel plugins, as the import page lists them. */
const PLUGINS: Readonly<Record<string, string>> = {
  stat: 'Stat',
  timeseries: 'Time series',
  heatmap: 'Heatmap',
  'state-timeline': 'State timeline',
  table: 'Table',
};

/** Every generated file: its path below `dashboards/`, and its text. The same sources always give the same texts. */
export function dashboardFiles(): Map<string, string> {
  const dashboards = dashboardSources().map(buildDashboard);
  return new Map([
    ...dashboards.map((dashboard) => [`generated/${dashboard.uid}.json`, jsonText(dashboard)] as const),
    ...dashboards.map(
      (dashboard) => [`import/${dashboard.uid}.json`, jsonText(forImport(dashboard))] as const,
    ),
  ]);
}

/**
 * For import by hand: editable, and with the list of what it requires, which Grafana's import page checks. There is
 * no `__inputs`: it would ask for a data source and write that one into every panel, while the variable at the top
 * takes the default Prometheus and can be switched.
 */
function forImport(dashboard: ClassicDashboard) {
  return { __requires: requirements(dashboard), ...dashboard, editable: true, id: null };
}

function requirements(dashboard: ClassicDashboard) {
  const kinds = new Set(dashboard.panels.map(({ type }) => type));
  const panels = Object.entries(PLUGINS).filter(([id]) => kinds.has(id as 'stat'));
  return [
    { type: 'grafana', id: 'grafana', name: 'Grafana', version: OLDEST_GRAFANA },
    { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
    ...panels.map(([id, name]) => ({ type: 'panel', id, name, version: '' })),
  ];
}
