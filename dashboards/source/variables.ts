import type { Variable } from './grafana-types.js';
import { DATA_SOURCE } from './panel-source.js';

/** Always there while an exporter is scraped, also before any lock was taken. */
const ALIVE = 'redis_lock_exporter_build_info';
/** A store is known by its sample or by its clients, whichever there is. */
const STORES = '__name__=~"redis_lock_up|redis_lock_acquire_total"';
const RESOURCES = '__name__=~"redis_lock_keys|redis_lock_acquire_total"';

/** Each narrows down those after it. */
const CHAIN = ['cluster', 'namespace', 'job', 'instance', 'store', 'resource'] as const;

const DESCRIPTIONS: Readonly<Record<(typeof CHAIN)[number], string>> = {
  cluster: 'Only where the targets have a label "cluster"; All also fits those without.',
  namespace: 'Only where the targets have a label "namespace"; All also fits those without.',
  job: 'Scrape job of the exporters.',
  instance: 'One exporter.',
  store: 'One Redis, by its configured name.',
  resource: 'Class of locks.',
};

/** The variables, the same on every dashboard, so that links can carry them. */
export function variables(): readonly Variable[] {
  return [dataSourceVariable(), ...CHAIN.map(queryVariable)];
}

function dataSourceVariable(): Variable {
  return {
    name: 'datasource',
    label: 'Data source',
    description: 'The Prometheus that scrapes the exporters.',
    type: 'datasource',
    query: 'prometheus',
    regex: '',
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    refresh: 1,
    skipUrlSync: false,
  };
}

/**
 * Several values and All, which is `.*` and not a list of every name. Grafana's data source writes chosen values as
 * a regular expression with their special characters escaped, for both levels: PromQL's string and the expression.
 */
function queryVariable(name: (typeof CHAIN)[number], index: number): Variable {
  return {
    name,
    label: name[0]?.toUpperCase() + name.slice(1),
    description: DESCRIPTIONS[name],
    type: 'query',
    datasource: DATA_SOURCE,
    query: {
      qryType: 1,
      query: `label_values(${source(name, CHAIN.slice(0, index))}, ${name})`,
      refId: 'PrometheusVariableQueryEditor-VariableQuery',
    },
    regex: '',
    refresh: 2,
    sort: 5,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
    hide: 0,
    options: [],
    skipUrlSync: false,
  };
}

function source(name: string, before: readonly string[]): string {
  const matchers = before.map((label) => `${label}=~"$${label}"`).join(', ');
  if (name === 'store') return `{${STORES}, ${matchers}}`;
  if (name === 'resource') return `{${RESOURCES}, ${matchers}}`;
  return matchers === '' ? ALIVE : `${ALIVE}{${matchers}}`;
}
