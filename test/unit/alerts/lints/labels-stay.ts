import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../known-families.js';
import { expressions, type Lint, type Pack, withAlert } from './lint.js';

const ALWAYS = ['cluster', 'namespace', 'job'];

/** Routing and inhibition match on cluster, namespace, job and, where the family has it, store: no aggregation drops them. */
export const labelsStay: Lint = {
  name: 'labels-stay',
  check: (pack) =>
    expressions(pack).flatMap(({ name, expr }) => missing(expr, pack).map((fault) => `${name}: ${fault}`)),
  broken: (pack) =>
    withAlert(pack, 'RedisLockLost', {
      expr: 'sum by (cluster, namespace, job, resource) (increase(redis_lock_lost_total[5m])) > 0',
    }),
};

function missing(expr: string, { families }: Pack): string[] {
  return parsePromql(expr)
    .aggregations()
    .flatMap(({ op, by, body }) => {
      const inside = parsePromql(body)
        .selectors()
        .map(({ name }) => familyOf(name, families));
      const perStore = inside.some((family) => family?.labels.includes('store'));
      // Series counts and the failure ratio of a whole job are about the job on purpose.
      const required = perStore && by?.join() !== ALWAYS.join() ? [...ALWAYS, 'store'] : ALWAYS;
      const lost = required.filter((label) => !by?.includes(label));
      return lost.length === 0 ? [] : [`${op} drops ${lost.join(', ')}`];
    });
}
