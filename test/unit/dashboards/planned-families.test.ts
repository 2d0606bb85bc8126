import { describe, expect, it } from 'vitest';
import { plannedSpecs } from '../../../dashboards/source/planned-families.js';
import { CATALOGUE } from '../../../exporter/metrics/catalogue.js';
import { listQueries } from '../../support/panel-queries.js';
import { parsePromql } from '../../support/promql.js';

/** Planned families that are real by now, and those that no panel asks for. */
function faults(planned: readonly string[], real: readonly string[], asked: ReadonlySet<string>): string[] {
  return planned.flatMap((name) => [
    ...(real.includes(name) ? [`${name} is real: take it off the list and give its panels their due`] : []),
    ...(asked.has(name) ? [] : [`${name} is planned, but no panel asks for it`]),
  ]);
}

const planned = plannedSpecs().map(({ name }) => name);
const real = CATALOGUE.map(({ name }) => name);
const selectors = (expr: string) =>
  parsePromql(expr)
    .selectors()
    .map(({ name }) => name.replace(/_bucket$/, ''));

describe('planned families', () => {
  const queries = listQueries();

  it('are not in the catalogue yet, and each has a panel', () => {
    expect(faults(planned, real, new Set(queries.flatMap(({ expr }) => selectors(expr))))).toEqual([]);
  });

  it('leave the list when they become real', () => {
    expect(faults(['redis_lock_up'], real, new Set(['redis_lock_up']))).toEqual([
      expect.stringContaining('redis_lock_up is real'),
    ]);
  });

  it('are the only reason to call a query planned, and a query of one is called so', () => {
    const wrong = queries.filter(
      ({ expr, due }) => selectors(expr).some((name) => planned.includes(name)) !== (due === 'planned'),
    );
    expect(wrong.map(({ where }) => where)).toEqual([]);
  });

  it('of days and weeks ask for daily rules and for the week before', () => {
    for (const [due, asks] of [
      ['daily', /1d\{/],
      ['weeks', /offset 7d/],
    ] as const) {
      const those = queries.filter((query) => query.due === due);
      expect(those.length).toBeGreaterThan(0);
      expect(those.filter(({ expr }) => !asks.test(expr)).map(({ where }) => where)).toEqual([]);
    }
  });
});
