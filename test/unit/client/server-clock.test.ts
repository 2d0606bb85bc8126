import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServerClock } from '../../../client/server-clock.js';
import { ServerEpoch } from '../../../client/server-epochs.js';

test('is a lower bound of the true clock at every time, before and after each answer', () => {
  const answer = fc.record({
    sentMs: fc.nat(10_000),
    tripMs: fc.nat(500),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 6 }), fc.nat(20_000), (answers, askedMs) => {
      const trueUs = (atMs: number) => 5_000_000_000 + Math.floor(atMs * 1000);
      const clock = new ServerClock();
      const epoch = new ServerEpoch(true);
      for (const { sentMs, tripMs, share } of answers) {
        clock.add({ serverUs: trueUs(sentMs + tripMs * share), receivedMs: sentMs + tripMs, epoch });
      }
      const boundUs = clock.lowerBoundUs(askedMs) ?? 0;
      const shortestTripMs = Math.min(...answers.map(({ tripMs }) => tripMs));
      expect(boundUs).toBeLessThanOrEqual(trueUs(askedMs) + 1);
      expect(trueUs(askedMs) - boundUs).toBeLessThanOrEqual(shortestTripMs * 1000 + 2);
    }),
  );
});

test('answers of another server replace what was known, and are not mixed with it', () => {
  const clock = new ServerClock();
  clock.add({ serverUs: 9_000_000, receivedMs: 10, epoch: new ServerEpoch(true) });
  const next = new ServerEpoch(true);
  clock.add({ serverUs: 1_000_000, receivedMs: 20, epoch: next });
  expect(clock.lowerBoundUs(20)).toBe(1_000_000);
  expect(clock.epoch).toBe(next);
});

test('a new connection to the same process goes on with what was known', () => {
  const clock = new ServerClock();
  const [first, second] = [new ServerEpoch(true), new ServerEpoch(true)];
  first.id = 'abc';
  second.id = 'abc';
  clock.add({ serverUs: 1_010_000, receivedMs: 10, epoch: first });
  clock.add({ serverUs: 1_015_000, receivedMs: 20, epoch: second });
  expect(clock.lowerBoundUs(20)).toBe(1_020_000);
});

test('of a Cluster only the latest answer counts', () => {
  const clock = new ServerClock();
  const epoch = new ServerEpoch(false);
  clock.add({ serverUs: 9_000_000, receivedMs: 10, epoch });
  clock.add({ serverUs: 1_000_000, receivedMs: 20, epoch });
  expect(clock.lowerBoundUs(20)).toBe(1_000_000);
});

test('knows nothing before the first answer', () => {
  expect(new ServerClock().lowerBoundUs(1)).toBeUndefined();
});
