import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HotKeys, type HotKeysOptions } from '../../../../exporter/ledger/hot-keys.js';
import { SpaceSaving } from '../../../../exporter/ledger/space-saving.js';
import { seededRandom } from '../../../support/clocks.js';
import { acquired, lost, release, renewal } from './events.js';

const OPTIONS: HotKeysOptions = { windowMs: 60_000, capacity: 64, shown: 2, residenceWindows: 3 };
const lockOf = (n: number) => n.toString(16).padStart(16, '0');
const hold = (n: number) => ({ lock: lockOf(n), owner: lockOf(n) });

describe('Space-Saving', () => {
  const countAll = (keys: Iterable<number>, capacity = 1024) => {
    const counts = new SpaceSaving<undefined>(
      capacity,
      () => undefined,
      () => {},
    );
    const truth = new Map<number, number>();
    for (const key of keys) {
      counts.add(String(key), 1);
      truth.set(key, (truth.get(key) ?? 0) + 1);
    }
    return { counts, truth };
  };

  it('finds the true ten of 200,000 keys under a Zipf load', () => {
    const random = seededRandom(7);
    // Inverse of the continuous Zipf distribution with exponent 1.
    const draws = Array.from({ length: 600_000 }, () => Math.floor(200_000 ** random()));
    const { counts, truth } = countAll(draws);
    const ten = [...truth].sort((a, b) => b[1] - a[1]).slice(0, 10);
    expect(
      counts
        .top(10)
        .map(({ key }) => Number(key))
        .sort(),
    ).toEqual(ten.map(([key]) => key).sort());
  });

  it('errs by no more than its bound under a uniform load', () => {
    const random = seededRandom(8);
    const { counts, truth } = countAll(Array.from({ length: 200_000 }, () => Math.floor(random() * 200_000)));
    for (const { key, count, error } of counts.top(1024)) {
      const right = truth.get(Number(key)) ?? 0;
      expect(error).toBeLessThanOrEqual(counts.errorBound);
      expect(count).toBeGreaterThanOrEqual(right);
      expect(count - error).toBeLessThanOrEqual(right);
    }
  });

  it('never counts too low, and has every key above its bound, for any stream of weights', () => {
    const stream = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 9 })), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 12 }), (adds, capacity) => {
        const counts = new SpaceSaving<undefined>(
          capacity,
          () => undefined,
          () => {},
        );
        const truth = new Map<string, number>();
        for (const [key, weight] of adds) {
          counts.add(String(key), weight);
          truth.set(String(key), (truth.get(String(key)) ?? 0) + weight);
        }
        for (const [key, right] of truth) {
          const counted = counts.get(key);
          if (right > counts.errorBound) expect(counted).toBeDefined();
          if (counted) expect(counted.count).toBeGreaterThanOrEqual(right);
          if (counted) expect(counted.count - counted.error).toBeLessThanOrEqual(right);
        }
      }),
    );
  });
});

describe('hot locks', () => {
  it('are counted by commands, with the share that met a holder', () => {
    const hot = new HotKeys(0, OPTIONS);
    hot.applyEvent(acquired({ ...hold(1), attempts: 3 }), 1000);
    hot.applyEvent({ ...acquired(hold(1)), outcome: 'contended' } as never, 2000);
    hot.tick(60_000);
    expect(hot.report()).toMatchObject({ attempts: 4, errorBound: 4 / 64, endedMonoMs: 60_000 });
    expect(hot.report().locks).toMatchObject([
      { lock: lockOf(1), attempts: 4, attemptsError: 0, contendedRatio: 0.75 },
    ]);
  });

  it('are busy for as long as they were held, running holds clipped to the window', () => {
    const hot = new HotKeys(0, OPTIONS);
    hot.applyEvent(acquired({ ...hold(1), leaseMs: 60_000 }), 0);
    hot.applyEvent(release({ ...hold(1), holdMs: 15_000 }), 15_000);
    hot.applyEvent(acquired({ ...hold(1), leaseMs: 60_000 }), 45_000);
    hot.tick(60_000);
    expect(hot.report().locks).toMatchObject([{ busyRatio: 0.5, headroomRatio: 0.5, meanHoldMs: 15_000 }]);
    hot.applyEvent(release({ ...hold(1), holdMs: 45_000 }), 90_000);
    hot.tick(120_000);
    expect(hot.report().locks).toMatchObject([{ busyRatio: 0.5, meanHoldMs: 45_000 }]);
  });

  it('are busy no longer than the lease of a holder that never reports again, renewed or not', () => {
    const hot = new HotKeys(0, OPTIONS);
    hot.applyEvent(acquired({ ...hold(1), leaseMs: 6000 }), 0);
    hot.applyEvent(acquired({ ...hold(2), leaseMs: 6000 }), 0);
    hot.applyEvent(renewal({ ...hold(2), outcome: 'renewed', leaseMs: 6000 }), 6000);
    hot.applyEvent(renewal({ lock: lockOf(1), owner: lockOf(9), outcome: 'renewed' }), 6000);
    hot.tick(60_000);
    const ratios = () =>
      Object.fromEntries(hot.report().locks.map(({ lock, busyRatio }) => [Number(lock), busyRatio]));
    expect(ratios()).toEqual({ 1: 0.1, 2: 0.2 });
    hot.tick(120_000);
    expect(ratios()).toEqual({});
  });

  it('are not busy with work that goes on after its lock was lost', () => {
    const hot = new HotKeys(0, OPTIONS);
    hot.applyEvent(acquired({ ...hold(1), leaseMs: 60_000 }), 0);
    hot.applyEvent(lost(hold(1)), 6000);
    hot.applyEvent(release({ ...hold(1), holdMs: 30_000 }), 30_000);
    hot.tick(60_000);
    expect(hot.report().locks).toMatchObject([{ busyRatio: 0.1, meanHoldMs: 30_000 }]);
  });

  it('bring nothing of the lock whose place they take but its count, as the error', () => {
    const hot = new HotKeys(0, { ...OPTIONS, capacity: 1 });
    hot.applyEvent(acquired({ ...hold(1), attempts: 5, resource: 'cart' }), 0);
    hot.applyEvent(release({ ...hold(1), holdMs: 15_000 }), 15_000);
    hot.applyEvent(acquired({ ...hold(1), attempts: 5, resource: 'cart' }), 15_000);
    hot.applyEvent(acquired({ ...hold(2), leaseMs: 60_000 }), 30_000);
    hot.tick(60_000);
    const [taker] = hot.report().locks;
    expect(taker).toMatchObject({ lock: lockOf(2), resource: 'stock', attempts: 11, attemptsError: 10 });
    expect(taker).toMatchObject({ contendedRatio: 0, busyRatio: 0.5, meanHoldMs: null });
  });

  it('count a hold whose both reports came in one batch', () => {
    const hot = new HotKeys(0, OPTIONS);
    hot.applyEvent(acquired(hold(1)), 30_000);
    hot.applyEvent(release({ ...hold(1), holdMs: 6000 }), 30_000);
    hot.tick(60_000);
    expect(hot.report().locks).toMatchObject([{ busyRatio: 0.1 }]);
  });

  it('keep their series for a while after they were hottest, and give them up then', () => {
    const hot = new HotKeys(0, OPTIONS);
    const residents = [];
    for (let window = 0; window < 6; window += 1) {
      const hottest = window === 0 ? [1, 2] : [3, 4];
      for (const n of [...hottest, ...hottest, 1, 2]) hot.applyEvent(acquired(hold(n)), window * 60_000 + 1);
      hot.tick((window + 1) * 60_000);
      residents.push(
        hot
          .residents()
          .map(({ lock }) => Number(lock))
          .sort()
          .join(),
      );
    }
    expect(residents).toEqual(['1,2', '1,2', '1,2', '3,4', '3,4', '3,4']);
  });
});

it('the end of the present window is known, also after a silence of several', () => {
  const hot = new HotKeys(1_000, { windowMs: 60_000, capacity: 4, shown: 2, residenceWindows: 1 });
  expect(hot.endsMonoMs).toBe(61_000);
  hot.tick(200_000);
  expect(hot.endsMonoMs).toBe(241_000);
});
