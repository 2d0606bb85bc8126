import { queryPanels } from '../../../support/panel-queries.js';
import { dashboardWith, describeLint, type Lint, panelWith } from '../lint.js';

const VARIABLE = `\${datasource}`;

/** Everything asks the data source that is chosen at the top; a uid, or a placeholder of an import, is another Grafana's. */
const lint: Lint = (dashboard) => {
  const places = [
    ...queryPanels(dashboard).flatMap(({ title, datasource, targets }) => [
      [title, datasource] as const,
      ...targets.map((target) => [`${title} / ${target.refId}`, target.datasource] as const),
    ]),
    ...dashboard.annotations.list.flatMap(({ name, datasource, target }) => [
      [name, datasource] as const,
      [`${name} / query`, target.datasource] as const,
    ]),
    ...dashboard.templating.list
      .filter(({ type }) => type === 'query')
      .map(({ name, datasource }) => [`$${name}`, datasource] as const),
  ];
  const wrong = places
    .filter(([, source]) => source?.type !== 'prometheus' || source.uid !== VARIABLE)
    .map(([place]) => `${dashboard.uid} / ${place}: does not ask the chosen one`);
  const text = JSON.stringify(dashboard);
  const placeholder = /\$\{DS_|__inputs/.test(text) ? [`${dashboard.uid}: a placeholder of an import`] : [];
  return [...wrong, ...placeholder];
};

// D5: blinklabs-io/dingo#3737; grafana/grafana#10786, #11018; natrontech/pbs-exporter#75; agglayer/agglayer#1674:
// dashboards bound to one data source id or to an import-only placeholder.
describeLint('everything asks the chosen data source (D5)', lint, [
  {
    what: 'a uid',
    dashboard: panelWith({ datasource: { type: 'prometheus', uid: 'P1809F7CD0C75ACF3' } }),
    fault: 'does not ask the chosen',
  },
  {
    what: 'no data source',
    dashboard: panelWith({ datasource: undefined }),
    fault: 'does not ask the chosen',
  },
  {
    what: 'a placeholder',
    dashboard: dashboardWith({ description: `\${DS_PROMETHEUS}` }),
    fault: 'a placeholder of an import',
  },
]);
