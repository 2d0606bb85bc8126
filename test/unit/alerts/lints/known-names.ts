import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../known-families.js';
import { expressions, type Lint, type Pack, withAlert } from './lint.js';

/** Labels of Prometheus itself. */
const TARGET_LABELS = ['job', 'instance', 'le', 'cluster', 'namespace'];

/** Every metric and every matched label is in the catalogue, or recorded by the pack. */
export const knownNames: Lint = {
  name: 'known-names',
  check: (pack) =>
    expressions(pack).flatMap(({ name, expr }) =>
      unknownNames(expr, pack).map((fault) => `${name}: ${fault}`),
    ),
  broken: (pack) =>
    withAlert(pack, 'RedisLockLost', { expr: 'increase(redis_lock_lost_total{cause="x"}[5m]) > 0' }),
};

/** What a query names that does not exist. */
export function unknownNames(expr: string, { families, recordings }: Pack): string[] {
  return parsePromql(expr)
    .selectors()
    .flatMap(({ name, matchers }) => {
      if (name === 'ALERTS' || recordings.some(({ record }) => record === name)) return [];
      const family = familyOf(name, families);
      if (!family) return [`no family ${name}`];
      const labels = [...family.labels, ...TARGET_LABELS];
      return matchers
        .filter(({ label }) => !labels.includes(label))
        .map(({ label }) => `${name} has no label ${label}`);
    });
}
