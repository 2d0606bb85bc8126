import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { healthyHistory } from './history.js';
import { judge, type Rule } from './invariants.js';
import { ModelHistory } from './model-history.js';
import { MUTANTS, type Mutation } from './mutants.js';

/** Histories within which a mutant must be caught, about five times what the best hidden one took. */
const MAX_HISTORIES = 600;
const seed = 20_240_101;

/** Number of histories until a promise is found broken; undefined: never. */
async function caughtAfter(make: () => Mutation, rule: Rule): Promise<number | undefined> {
  const plans = fc.sample(healthyHistory, { seed, numRuns: MAX_HISTORIES });
  for (const [index, plan] of plans.entries()) {
    const history = new ModelHistory(plan, make());
    await history.run();
    if (judge(history).some((violation) => violation.rule === rule)) return index + 1;
  }
  return undefined;
}

describe('the histories catch a client of which it is true that', () => {
  for (const { name, rule, make } of MUTANTS) {
    it(name, async () => {
      expect(await caughtAfter(make, rule)).toBeDefined();
    });
  }
});
