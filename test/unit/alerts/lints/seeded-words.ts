import { parsePromql } from '../../../support/promql.js';
import { familyOf } from '../known-families.js';
import type { Lint, Pack } from './lint.js';

/** A counter that an event alert picks by a label's value is shown as 0 from its birth on, or the first one is not seen. */
export const seededWords: Lint = {
  name: 'seeded-words',
  check: (pack) =>
    pack.alerts
      .filter(({ labels }) => labels.signal === 'event')
      .flatMap(({ alert, expr }) => unseeded(expr, pack).map((fault) => `${alert}: ${fault}`)),
  broken: (pack) => ({
    ...pack,
    families: pack.families.map((family) =>
      family.name === 'redis_lock_lost_total' ? { ...family, seeds: [] } : family,
    ),
  }),
};

function unseeded(expr: string, { families }: Pack): string[] {
  return parsePromql(expr)
    .selectors()
    .flatMap(({ name, matchers }) => {
      const family = familyOf(name, families);
      const words = family?.labels.filter((label) => label !== 'store' && label !== 'resource') ?? [];
      if (family?.type !== 'counter' || words.length === 0) return [];
      const seeds = new Set(family.seeds.flat());
      if (seeds.size === 0) return [`${name} has no seeds`];
      const asked = matchers.filter(({ op, label }) => op === '=' && words.includes(label));
      return asked
        .filter(({ value }) => !seeds.has(value))
        .map(({ value }) => `${name}: ${value} is not seeded`);
    });
}
