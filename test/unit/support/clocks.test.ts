import { describe, expect, it } from 'vitest';
import { FakeClock, seededRandom } from '../../support/clocks.js';

describe('FakeClock', () => {
  it('fires timers in order, each at its due time, and new ones on the way', async () => {
    const clock = new FakeClock(1000, 0);
    const fired: [string, number, number][] = [];
    const note = (name: string) => () => fired.push([name, clock.monoMs(), clock.wallMs()]);
    clock.setTimer(note('late'), 30);
    clock.setTimer(note('first'), 10);
    clock.setTimer(note('second'), 10);
    clock.setTimer(() => clock.setTimer(note('nested'), 5), 15);
    clock.setTimer(note('never'), Number.POSITIVE_INFINITY);
    await clock.advance(29);
    expect(fired.map(([name]) => name)).toEqual(['first', 'second', 'nested']);
    expect(fired.map(([, mono, wall]) => [mono, wall])).toEqual([
      [10, 1010],
      [10, 1010],
      [20, 1020],
    ]);
    expect([clock.monoMs(), clock.wallMs(), clock.pendingTimers, clock.nextTimerInMs]).toEqual([
      29, 1029, 2, 1,
    ]);
  });

  it('lets promises settle between timers', async () => {
    const clock = new FakeClock();
    const steps: string[] = [];
    const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms));
    const task = async () => {
      for (const step of ['a', 'b', 'c']) {
        await sleep(10);
        await Promise.resolve().then(() => Promise.resolve());
        steps.push(step);
      }
    };
    const done = task();
    await clock.advance(20);
    expect(steps).toEqual(['a', 'b']);
    await clock.advance(10);
    await done;
  });

  it('takes a negative or NaN delay as 0 and forgets a cancelled timer', async () => {
    const clock = new FakeClock();
    let fired = 0;
    clock.setTimer(() => (fired += 1), -5);
    clock.setTimer(() => (fired += 1), Number.NaN);
    const timer = clock.setTimer(() => (fired += 1), 1);
    timer.cancel();
    timer.cancel();
    await clock.advance(0);
    expect(fired).toBe(2);
    expect(clock.pendingTimers).toBe(0);
    expect(clock.nextTimerInMs).toBeUndefined();
  });

  it('moves the wall clock alone', async () => {
    const clock = new FakeClock(0, 0);
    let fired = false;
    clock.setTimer(() => (fired = true), 10);
    clock.jumpWall(-3_600_000);
    await clock.settle();
    expect([clock.wallMs(), clock.monoMs(), fired]).toEqual([-3_600_000, 0, false]);
  });

  it('stalls: time has passed at once, timers fire in the next turn, late', async () => {
    const clock = new FakeClock(0, 0);
    const firedAt: number[] = [];
    clock.setTimer(() => firedAt.push(clock.monoMs()), 10);
    clock.setTimer(() => firedAt.push(clock.monoMs()), 20);
    clock.stall(3000);
    expect([clock.monoMs(), clock.wallMs(), clock.nextTimerInMs, firedAt]).toEqual([3000, 3000, 0, []]);
    await Promise.resolve();
    expect(firedAt).toEqual([]);
    await clock.settle();
    expect(firedAt).toEqual([3000, 3000]);
  });

  it('ends a loop that never lets time pass', async () => {
    const clock = new FakeClock();
    const again = () => void clock.setTimer(again, 0);
    again();
    await expect(clock.advance(1)).rejects.toThrow('a hot loop');
  });

  it('moves monotonic time alone', async () => {
    const clock = new FakeClock(0, 0);
    clock.jumpMono(50);
    await clock.settle();
    expect([clock.monoMs(), clock.wallMs()]).toEqual([50, 0]);
  });
});

describe('seededRandom', () => {
  it('repeats itself for the same seed and stays in [0, 1)', () => {
    const draw = (seed: number) => Array.from({ length: 1000 }, seededRandom(seed));
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7).every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = draw(7).reduce((sum, value) => sum + value, 0) / 1000;
    expect(mean).toBeGreaterThan(0.45);
    expect(mean).toBeLessThan(0.55);
  });
});
