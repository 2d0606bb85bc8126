import { describe, expect, it } from 'vitest';
import { parsePromql } from '../../support/promql.js';
import type { KnownFamily } from './known-families.js';
import { LINTS } from './lints/all.js';
import type { Pack } from './lints/lint.js';
import { type Mutant, partMutants, thresholdMutants } from './mutations.js';
import { failedCases, onlyGroups, type PromtoolCase } from './promtool-batch.js';
import { alertOfTest, listAlertsFolder, readAlertsFile, shippedAlerts } from './shipped.js';
import { shippedPack } from './shipped-pack.js';

const FIRING = 'fires, and not before its time';
/** Cases that show what a gap or a restart does; a changed number shows elsewhere. */
const SLOW = /outage|across|without a label|no traffic|restart long after/;

describe('a change of the rules that no test would notice', () => {
  it('is none of a threshold', { timeout: 400_000 }, async () => {
    const mutants = thresholdMutants(shippedAlerts());
    expect(mutants.length).toBeGreaterThan(100);
    expect(await survivors(mutants)).toEqual([]);
  });

  it('is none of a part that is taken away', { timeout: 400_000 }, async () => {
    const mutants = partMutants(shippedAlerts());
    expect(mutants.length).toBeGreaterThan(250);
    expect(await survivors(mutants)).toEqual([]);
  });
});

describe('a deletion that no lint would notice', () => {
  const pack = shippedPack();
  const lints = LINTS.filter(({ name }) => ['runbooks', 'seeded-words'].includes(name));
  const unnoticed = (mutants: readonly [string, Pack][]) =>
    mutants
      .filter(([, mutant]) => lints.every(({ check }) => check(mutant).length === 0))
      .map(([name]) => name);

  it('is none of a runbook', () => {
    const mutants = [...pack.runbooks.keys()].map((page): [string, Pack] => {
      const runbooks = new Map([...pack.runbooks].filter(([name]) => name !== page));
      return [page, { ...pack, runbooks }];
    });
    expect(mutants.length).toBeGreaterThan(30);
    expect(unnoticed(mutants)).toEqual([]);
  });

  it('is none of a seeded zero that an event alert asks for, or of all of a family', () => {
    const events = pack.alerts.filter(({ labels }) => labels.signal === 'event');
    const selectors = events.flatMap(({ expr }) => parsePromql(expr).selectors());
    const mutants = pack.families.flatMap((family) => {
      const asked = selectors.filter(({ name }) => name === family.name).flatMap(({ matchers }) => matchers);
      if (family.type !== 'counter' || !selectors.some(({ name }) => name === family.name)) return [];
      const words = asked.filter(({ op }) => op === '=').map(({ value }) => value);
      const seeds = [
        ['no seeds', []],
        ...words.map((word) => [`no ${word}`, family.seeds.filter((seed) => !seed.includes(word))]),
      ] as [string, KnownFamily['seeds']][];
      return family.seeds.length === 0
        ? []
        : seeds.map(([name, left]): [string, Pack] => [
            `${family.name}: ${name}`,
            {
              ...pack,
              families: pack.families.map((one) => (one === family ? { ...one, seeds: left } : one)),
            },
          ]);
    });
    expect(mutants.length).toBeGreaterThan(4);
    expect(unnoticed(mutants)).toEqual([]);
  });
});

/** Mutants that every test of their alert lets through. */
async function survivors(mutants: readonly Mutant[]): Promise<string[]> {
  const failed = new Set((await failedCases(mutants.flatMap(toCases))).map(({ name }) => name));
  return [...new Set(mutants.map(({ name }) => name))].filter((name) => !failed.has(name));
}

function toCases(mutant: Mutant): PromtoolCase[] {
  const files = listAlertsFolder('tests').filter((file) => alertOfTest(file) === mutant.alert);
  return files
    .filter((file, _, all) => fitsPage(file, all, mutant.page))
    .map((file) => ({
      name: mutant.name,
      rules: mutant.rules,
      test: onlyGroups(readAlertsFile(`tests/${file}`), (name) => isLookedAt(name, mutant.look)),
    }));
}

/** Alerts that may page have a proof for each policy; the others have no such pair. */
function fitsPage(file: string, all: readonly string[], page: Mutant['page']): boolean {
  const noPage = (name: string) => name.endsWith('no-page.yml');
  return page === 'either' || !all.some(noPage) || noPage(file) === (page === 'false');
}

function isLookedAt(name: string, look: Mutant['look']): boolean {
  switch (look) {
    case 'firing':
      return name === FIRING;
    case 'gaps':
      return /outage|across a failed scrape/.test(name);
    case 'all':
      return !SLOW.test(name);
    default:
      return look satisfies never;
  }
}
