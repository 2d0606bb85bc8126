import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../families.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/** Every selector follows the variables: the target's, and store and resource where the family has them. */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr }) =>
    parsePromql(expr)
      .selectors()
      .flatMap(({ name, matchers }) =>
        required(name)
          .filter(
            (label) =>
              !matchers.some(
                (matcher) =>
                  matcher.label === label &&
                  matcher.op === '=~' &&
                  [`$${label}`, `$${label}|`].includes(matcher.value),
              ),
          )
          .map((label) => `${where}: ${name} does not follow $${label}`),
      ),
  );

/** Recording rules are sums over instances. */
function required(name: string): string[] {
  const own = ['store', 'resource'].filter((label) => familyOf(name)?.labels.includes(label));
  if (name.startsWith('job:')) return ['job', 'cluster', 'namespace'];
  if (name.includes(':')) return ['job', 'cluster', 'namespace', 'store', 'resource'];
  return ['job', 'instance', 'cluster', 'namespace', ...own];
}

const TARGET = 'job=~"$job", instance=~"$instance", cluster=~"$cluster", namespace=~"$namespace"';

describeLint('every selector follows the variables', lint, [
  { what: 'no matcher at all', dashboard: graphOf('up'), fault: 'up does not follow $job' },
  {
    what: 'no matcher of the resource',
    dashboard: graphOf(`redis_lock_keys{${TARGET}, store=~"$store"}`),
    fault: 'redis_lock_keys does not follow $resource',
  },
  {
    what: 'an exact match, which fails for several values',
    dashboard: graphOf(`up{${TARGET.replace('instance=~', 'instance=')}}`),
    fault: 'up does not follow $instance',
  },
  {
    what: 'a recording rule without the job',
    dashboard: graphOf('resource:redis_lock_acquire:rate5m{store=~"$store"}'),
    fault: 'does not follow $job',
  },
]);
