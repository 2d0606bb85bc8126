import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyHistory, type History, healthyHistory } from './history.js';
import { judge } from './invariants.js';
import { ModelHistory } from './model-history.js';
import { SITUATIONS, situationsOf } from './situations.js';

/** Fixed, so that a red run is red again; MODEL_SEED and MODEL_RUNS are for hunting. fast-check prints the seed. */
const seed = Number(process.env.MODEL_SEED ?? 20_240_101);
const numRuns = Number(process.env.MODEL_RUNS ?? 400);
/** Histories with faults end sooner, and have more to meet. */
const numFaultyRuns = 2.5 * numRuns;

/** Generous: this is about answers, not about speed, and hunting takes long. */
const TIMEOUT_MS = 600_000;

describe('a lock client in random histories', { timeout: TIMEOUT_MS }, () => {
  const counts = new Map<string, number>();
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeAll(() => {
    process.on('unhandledRejection', note);
  });
  afterAll(() => {
    process.off('unhandledRejection', note);
  });

  const keepsPromises = async (plan: History) => {
    const history = new ModelHistory(plan);
    await history.run();
    expect(judge(history)).toEqual([]);
    expect(unhandled).toEqual([]);
    for (const name of situationsOf(history)) counts.set(name, (counts.get(name) ?? 0) + 1);
  };

  it('excludes, ends, tells and cleans up as promised, on one healthy server', async () => {
    await fc.assert(fc.asyncProperty(healthyHistory, keepsPromises), { seed, numRuns });
  });

  it('tells the truth when locks are stolen, servers replaced and clocks set', async () => {
    await fc.assert(fc.asyncProperty(anyHistory, keepsPromises), { seed, numRuns: numFaultyRuns });
  });

  it('met every situation that it is about', () => {
    if (process.env.MODEL_COUNTS)
      console.log(
        [...counts]
          .sort()
          .map((pair) => pair.join(': '))
          .join('\n'),
      );
    expect(SITUATIONS.filter((name) => !counts.has(name))).toEqual([]);
    expect(counts.get('overlap claimed')).toBeGreaterThan(40);
  });
});
