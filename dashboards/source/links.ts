import type { Link } from './grafana-types.js';

/** The dashboards by uid, in the order of the links at the top. */
export const DASHBOARD_TITLES = {
  'redis-lock-overview': 'Redis locks / Overview',
  'redis-lock-resource': 'Redis locks / Resource detail',
  'redis-lock-capacity': 'Redis locks / Capacity review',
  'redis-lock-exporter': 'Redis locks / Exporter health',
} as const;

/** A uid never changes: alerts, links and people's bookmarks name it. */
export type DashboardUid = keyof typeof DASHBOARD_TITLES;

const TOOLTIPS: Readonly<Record<DashboardUid, string>> = {
  'redis-lock-overview': 'Are locks safe now?',
  'redis-lock-resource': 'Everything about one class of locks',
  'redis-lock-capacity': 'Hot locks, headroom, growth',
  'redis-lock-exporter': 'Can the other dashboards be trusted?',
};

/** Links to the other dashboards, which carry the variables and the time. */
export function links(from: DashboardUid): readonly Link[] {
  const others = Object.entries(DASHBOARD_TITLES).filter(([uid]) => uid !== from);
  return others.map(([uid, title]) => ({
    title: title.replace('Redis locks / ', ''),
    tooltip: TOOLTIPS[uid as DashboardUid],
    type: 'link',
    url: `/d/${uid}`,
    icon: 'dashboard',
    includeVars: true,
    keepTime: true,
    targetBlank: false,
    asDropdown: false,
    tags: [],
  }));
}

/** Variables that a link from a row of a table keeps as they are. */
const KEPT = ['datasource', 'cluster', 'namespace', 'job', 'instance'];

/** The detail of the store and resource in a row of a table, with the other variables and the time. */
export const RESOURCE_LINK = {
  label: 'resource',
  title: 'Detail of this resource',
  url: `/d/redis-lock-resource?${KEPT.map((name) => `\${${name}:queryparam}`).join('&')}&var-store=\${__data.fields.store:percentencode}&var-resource=\${__data.fields.resource:percentencode}&\${__url_time_range}`,
} as const;
