import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../families.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/** Several exporters may sample one Redis: a sum over them counts a key twice. The largest is taken first. */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr }) =>
    parsePromql(expr)
      .selectors()
      .filter(({ name }) => isSampled(name))
      .filter(
        ({ within: [inner] }) =>
          inner !== 'max' && inner !== 'min' && inner !== 'changes' && inner !== 'avg_over_time',
      )
      .map(({ name }) => `${where}: ${name} is counted once for each exporter`),
  );

function isSampled(name: string): boolean {
  const family = familyOf(name);
  return family?.type === 'gauge' && family.source === 'sample';
}

describeLint('what several exporters sample is counted once', lint, [
  {
    what: 'a sum',
    dashboard: graphOf('sum by (store) (redis_lock_keys)'),
    fault: 'redis_lock_keys is counted once for each exporter',
  },
  { what: 'an average', dashboard: graphOf('avg(redis_lock_oldest_hold_seconds)'), fault: 'is counted once' },
]);
