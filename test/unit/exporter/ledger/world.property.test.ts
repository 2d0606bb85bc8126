import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seededRandom } from '../../../support/clocks.js';
import { checkWorld } from './world/checks.js';
import { ACTS, type Act, type Setting, type Step, World } from './world/world.js';

const step: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.integer({ min: 1, max: 1500 }),
  process: fc.integer({ min: 0, max: 2 }),
  lock: fc.integer({ min: 0, max: 2 }),
  act: fc.oneof(
    { weight: 8, arbitrary: fc.constant<Act>('acquire') },
    { weight: 2, arbitrary: fc.constantFrom<Act>('settle', 'stall') },
    { weight: 6, arbitrary: fc.constantFrom(...ACTS) },
  ),
});

const setting: fc.Arbitrary<Setting> = fc.record({
  exporters: fc.constantFrom<1 | 3>(1, 3),
  ids: fc.constantFrom('known', 'known', 'known', 'hidden', 'cluster'),
});

const WORLDS = 1500;

/** What must have happened in so many worlds for the test to say anything. Each comes some ten times as often. */
const WANTED: Readonly<Record<string, number>> = {
  // Clients.
  'granted while another works': 100,
  'taken without a fence': 20,
  renewed: 100,
  'lost by deadline': 100,
  'answered expired': 50,
  'answered stolen': 10,
  'a release failed': 30,
  'died while holding': 20,
  'said goodbye while holding': 20,
  'a watchdog ran on': 20,
  // Redis.
  'a failover kept the keys': 20,
  'a failover lost keys': 20,
  'a client stayed with the old master': 20,
  'fences were lost': 30,
  // The way from client to exporter.
  'a batch came late': 100,
  'a batch came twice': 100,
  'a batch came after a later one': 3,
  'a batch was missed': 10,
  'a batch was refused': 20,
  'events were dropped': 10,
  'a set came in parts': 10,
  // Exporters.
  'an exporter was restarted while a client held': 20,
  'an exporter stood still': 30,
  'a client was unsure': 20,
  // What was found.
  'overlap proven by renew': 3,
  'overlap proven by check': 3,
  'overlap proven by release': 50,
  'overlap proven by reports': 20,
  'exact length': 50,
  'approximate length': 20,
  'several others': 3,
  overlap_other: 5,
  ghost_holder: 5,
  abandoned: 50,
  'abandoned, taken over': 10,
  'a hold that must be abandoned': 10,
  fence_regression: 5,
  'a fence that must be called too low': 5,
  zombie_renewal: 50,
  'a zombie that must be found': 10,
  'a key held': 100,
  'a key foreign': 100,
  'a key orphan': 50,
  'an orphan that must be found': 20,
  'holders that must be unsure': 20,
};

it('tells nothing that is not true, and each overlap whose evidence arrived, once in each run of an exporter', () => {
  const seen = new Map<string, number>();
  const count = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const property = fc.property(
    fc.array(step, { minLength: 10, maxLength: 40 }),
    fc.integer({ min: 1, max: 2 ** 31 }),
    setting,
    (steps, seed, how) => {
      const world = new World(seededRandom(seed), how);
      world.run(steps);
      checkWorld(world, how, count);
      for (const situation of world.situations) count(situation);
      for (const { finding } of world.records.told) count(finding.kind);
    },
  );
  const seed = Math.floor(Math.random() * 2 ** 31);
  fc.assert(property, { numRuns: WORLDS, seed });
  const rare = Object.entries(WANTED).filter(([what, least]) => (seen.get(what) ?? 0) < least);
  expect(rare, `seen with the seed ${seed}: ${JSON.stringify([...seen])}`).toEqual([]);
}, 120_000);
