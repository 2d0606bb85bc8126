import { parsePromql } from '../../../support/promql.js';
import { familyOf, ruleOf, TARGET_LABELS } from '../families.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/** A name or label that no exporter has makes a panel that is empty for ever, and looks as if all were well. */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr, legend }) => {
    const tree = parsePromql(expr);
    const selectors = tree.selectors();
    const known = new Set(selectors.flatMap(({ name }) => labelsOf(name) ?? []));
    const used = [
      ...tree.aggregations().flatMap(({ by = [], without = [] }) => [...by, ...without]),
      ...tree.binaries().flatMap(({ on = [], ignoring = [] }) => [...on, ...ignoring]),
      ...[...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? ''),
    ];
    return [
      ...tree.errors().map((error) => `${where}: no PromQL at ${error}`),
      ...selectors.flatMap(({ name, matchers }) =>
        selectorFaults(
          where,
          name,
          matchers.map(({ label }) => label),
        ),
      ),
      ...used.filter((label) => !known.has(label)).map((label) => `${where}: no label ${label}`),
    ];
  });

function selectorFaults(where: string, name: string, labels: readonly string[]): string[] {
  const known = labelsOf(name);
  if (!known) return [`${where}: no family or rule ${name}`];
  return labels
    .filter((label) => !known.includes(label))
    .map((label) => `${where}: ${name} has no label ${label}`);
}

/** Labels of a series, or undefined for one that nobody makes. */
function labelsOf(name: string): readonly string[] | undefined {
  if (name.includes(':')) return ruleOf(name) === undefined ? undefined : ruleLabels(name);
  const family = familyOf(name);
  if (!family) return undefined;
  return [...TARGET_LABELS, ...family.labels, ...(name.endsWith('_bucket') ? ['le'] : [])];
}

function ruleLabels(name: string): string[] {
  return name.startsWith('job:')
    ? ['cluster', 'namespace', 'job']
    : ['cluster', 'namespace', 'job', 'store', 'resource'];
}

describeLint('every family, rule and label exists', lint, [
  { what: 'an unknown family', dashboard: graphOf('redis_lock_loses_total'), fault: 'no family or rule' },
  {
    what: 'an unknown rule',
    dashboard: graphOf('resource:redis_lock_lost:rate1y'),
    fault: 'no family or rule',
  },
  {
    what: 'buckets of a counter',
    dashboard: graphOf('redis_lock_lost_total_bucket'),
    fault: 'no family or rule redis_lock_lost_total_bucket',
  },
  { what: 'an unknown label', dashboard: graphOf('redis_lock_up{key="a"}'), fault: 'has no label key' },
  {
    what: 'a sum by an unknown label',
    dashboard: graphOf('sum by (shop) (redis_lock_up)'),
    fault: 'no label shop',
  },
  { what: 'a query that is none', dashboard: graphOf('sum by (redis_lock_up'), fault: 'no PromQL' },
]);
