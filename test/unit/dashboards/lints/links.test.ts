import type { ClassicDashboard } from '../../../../dashboards/source/grafana-types.js';
import { queryPanels, shippedDashboards } from '../../../support/panel-queries.js';
import { anyDashboard, dashboardWith, describeLint, type Lint, panelWith } from '../lint.js';

const VARIABLES = ['datasource', 'cluster', 'namespace', 'job', 'instance', 'store', 'resource'];

/** A link leads to a dashboard of ours and takes the variables and the time along. */
const lint: Lint = (dashboard) => [...topLinks(dashboard), ...cellLinks(dashboard)];

const uids = () => shippedDashboards().map(({ uid }) => uid);

function topLinks({ uid, links }: ClassicDashboard): string[] {
  const others = uids().filter((other) => other !== uid);
  const missing = others
    .filter((other) => !links.some(({ url }) => url === `/d/${other}`))
    .map((other) => `${uid}: no link to ${other}`);
  const wrong = links.flatMap(({ title, url, includeVars, keepTime }) => [
    ...(others.includes(url?.replace('/d/', '') ?? '') ? [] : [`${uid} / ${title}: leads nowhere`]),
    ...(includeVars && keepTime ? [] : [`${uid} / ${title}: drops variables or time`]),
  ]);
  return [...missing, ...wrong];
}

/** Links on the cells of tables, which are written out. */
function cellLinks(dashboard: ClassicDashboard): string[] {
  const urls = queryPanels(dashboard).flatMap(({ fieldConfig }) =>
    fieldConfig.overrides.flatMap(({ properties }) =>
      properties
        .filter(({ id }) => id === 'links')
        .flatMap(({ value }) => (value as { url: string }[]).map(({ url }) => url)),
    ),
  );
  return urls.flatMap((url) => {
    const carried = [
      ...url.matchAll(/\$\{(\w+):queryparam\}|[?&]var-(\w+)=\$\{__data\.fields\.(\w+):percentencode\}/g),
    ];
    const names = carried.map(([, kept, set]) => kept ?? set ?? '');
    return [
      ...(uids().includes(/^\/d\/([\w-]+)\?/.exec(url)?.[1] ?? '')
        ? []
        : [`${dashboard.uid}: leads nowhere: ${url}`]),
      ...VARIABLES.filter((name) => !names.includes(name)).map(
        (name) => `${dashboard.uid}: a link drops $${name}`,
      ),
      ...(url.endsWith(`&\${__url_time_range}`) ? [] : [`${dashboard.uid}: a link drops the time`]),
    ];
  });
}

function topLink(change: object): ClassicDashboard {
  return dashboardWith({ links: anyDashboard().links.map((link) => ({ ...link, ...change })) });
}

function cellLink(url: string): ClassicDashboard {
  const properties = [{ id: 'links', value: [{ title: 'a', url }] }];
  const overrides = [{ matcher: { id: 'byName', options: 'a' }, properties }];
  return panelWith({ fieldConfig: { defaults: { unit: 's', noValue: 'a' }, overrides } });
}

describeLint('every link resolves and carries variables and time', lint, [
  { what: 'a link to nowhere', dashboard: topLink({ url: '/d/redis-locks' }), fault: 'leads nowhere' },
  { what: 'a link without variables', dashboard: topLink({ includeVars: false }), fault: 'drops variables' },
  { what: 'no links', dashboard: dashboardWith({ links: [] }), fault: 'no link to' },
  { what: 'a cell that leads nowhere', dashboard: cellLink('/d/lock?a=b'), fault: 'leads nowhere' },
  {
    what: 'a cell that drops variables',
    dashboard: cellLink('/d/redis-lock-resource?a'),
    fault: 'drops $store',
  },
]);
