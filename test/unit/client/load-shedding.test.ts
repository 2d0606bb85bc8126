import { expect, test } from 'vitest';
import { LoadShedding } from '../../../client/load-shedding.js';
import { makeBench } from './lock-bench.js';

function overloaded(): LoadShedding {
  const shedding = new LoadShedding({ startAt: 0.8, stopAt: 0.5, minHolds: 3, probeEveryMs: 1000 });
  for (let hold = 0; hold < 3; hold += 1) shedding.observe('stock', 0.9, 0);
  return shedding;
}

test('refuses when recent holds come close to their lease, and only that resource', () => {
  const shedding = overloaded();
  expect(shedding.admits('stock', 10)).toBe(false);
  expect(shedding.admits('order', 10)).toBe(true);
});

test('one slow hold is not enough', () => {
  const shedding = new LoadShedding({ minHolds: 3 });
  shedding.observe('stock', 5, 0);
  expect(shedding.admits('stock', 10)).toBe(true);
});

test('lets one acquire in a while look whether it is over', () => {
  const shedding = overloaded();
  expect([999, 1000, 1001, 1999, 2000].map((nowMs) => shedding.admits('stock', nowMs))).toEqual([
    false,
    true,
    false,
    false,
    true,
  ]);
});

test('does not flutter: ends only well below where it began', () => {
  const shedding = overloaded();
  shedding.observe('stock', 0.6, 10);
  expect(shedding.admits('stock', 20)).toBe(false);
  for (let hold = 0; hold < 20; hold += 1) shedding.observe('stock', 0.1, 10);
  expect(shedding.admits('stock', 20)).toBe(true);
});

test('watches a bounded number of resources', () => {
  const shedding = new LoadShedding({ minHolds: 1 });
  for (let index = 0; index < 2000; index += 1) shedding.observe(`r${index}`, 2, 0);
  expect(shedding.admits('r0', 1)).toBe(false);
  expect(shedding.admits('r1999', 1)).toBe(true);
});

test.each([
  { startAt: 0 },
  { startAt: Number.NaN },
  { startAt: 0.5, stopAt: 0.6 },
  { minHolds: 0 },
  { probeEveryMs: 0 },
])('%o is refused', (options) => {
  expect(() => makeBench({ shedding: options })).toThrow(/shedding/);
});

test('a refused acquire is told at once, sends nothing, and has its reason', async () => {
  const { client, grant, clock, server, log } = makeBench({
    shedding: { minHolds: 2, resources: ['stock'] },
  });
  for (let hold = 0; hold < 2; hold += 1) {
    const lease = await grant('lock:stock:1', { leaseMs: 1000 });
    await clock.advance(950);
    await lease.release();
  }
  const sent = server.commands.length;
  expect(await client.tryAcquire('lock:stock:2', { leaseMs: 1000 })).toEqual({
    outcome: 'aborted',
    reason: 'shed',
  });
  await expect(client.acquire('lock:stock:2', { leaseMs: 1000, waitMs: 9000 })).rejects.toMatchObject({
    reason: 'shed',
  });
  expect(server.commands).toHaveLength(sent);
  expect(log.last('acquire')).toMatchObject({ outcome: 'aborted', reason: 'shed', attempts: 0 });
  await clock.advance(1000);
  expect((await grant('lock:stock:2')).isValid()).toBe(true);
});
