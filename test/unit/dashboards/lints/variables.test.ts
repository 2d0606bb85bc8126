import type { Variable } from '../../../../dashboards/source/grafana-types.js';
import { listVariableQueries } from '../../../support/panel-queries.js';
import { parsePromql } from '../../../support/promql.js';
import { anyDashboard, dashboardWith, describeLint, type Lint } from '../lint.js';

const CHAIN = ['cluster', 'namespace', 'job', 'instance', 'store', 'resource'];

/**
 * The variables are the same everywhere, so that links carry them. All is `.*` and no list of every name; several
 * may be chosen, which is also what makes Grafana escape a value for a regular expression.
 */
const lint: Lint = (dashboard) => {
  const { uid, templating } = dashboard;
  const names = templating.list.map(({ name }) => name);
  const expected = ['datasource', ...CHAIN];
  const order = names.join() === expected.join() ? [] : [`${uid}: variables ${names.join()}`];
  return [...order, ...templating.list.flatMap((variable) => faultsOf(uid, variable)), ...chain(dashboard)];
};

function faultsOf(uid: string, variable: Variable): string[] {
  if (variable.type === 'datasource') {
    const free = variable.query === 'prometheus' && variable.current === undefined;
    return free ? [] : [`${uid} / ${variable.name}: not any Prometheus`];
  }
  const right =
    variable.type === 'query' &&
    variable.refresh === 2 &&
    variable.multi === true &&
    variable.includeAll === true &&
    variable.allValue === '.*' &&
    variable.current?.value.toString() === '$__all';
  return right ? [] : [`${uid} / ${variable.name}: not several values, All as .*, refreshed with the time`];
}

/** Each variable is narrowed down by all before it, by a regular expression. */
const chain: Lint = (dashboard) =>
  listVariableQueries([dashboard]).flatMap(({ where, selector, label }) => {
    const before = CHAIN.slice(0, CHAIN.indexOf(label));
    const matchers = parsePromql(selector).selectors()[0]?.matchers ?? [];
    return before
      .filter((name) => !matchers.some((m) => m.label === name && m.op === '=~' && m.value === `$${name}`))
      .map((name) => `${where}: not narrowed down by $${name}`);
  });

function changed(name: string, change: Partial<Variable>) {
  const list = anyDashboard().templating.list.map((variable) =>
    variable.name === name ? { ...variable, ...change } : variable,
  );
  return dashboardWith({ templating: { list } });
}

describeLint('variables are the same and take several values', lint, [
  { what: 'a missing variable', dashboard: dashboardWith({ templating: { list: [] } }), fault: 'variables ' },
  { what: 'All as a list of every name', dashboard: changed('store', { allValue: '' }), fault: 'All as .*' },
  { what: 'a single value', dashboard: changed('resource', { multi: false }), fault: 'not several values' },
  {
    what: 'values of the page load only',
    dashboard: changed('job', { refresh: 1 }),
    fault: 'refreshed with',
  },
  {
    what: 'a data source chosen for everybody',
    dashboard: changed('datasource', { current: { text: 'mine', value: 'P1809F7CD0C75ACF3' } }),
    fault: 'not any Prometheus',
  },
  {
    what: 'a variable that ignores the one before',
    dashboard: changed('store', { query: { query: 'label_values(redis_lock_up{job=~"$job"}, store)' } }),
    fault: 'not narrowed down by $instance',
  },
]);
