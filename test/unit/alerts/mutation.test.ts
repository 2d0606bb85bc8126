import { describe, expect, it } from 'vitest';
import { type Mutant, partMutants, thresholdMutants } from './mutations.js';
import { failedCases, onlyGroups, type PromtoolCase } from './promtool-batch.js';
import { alertOfTest, listAlertsFolder, readAlertsFile, shippedAlerts } from './shipped.js';

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
