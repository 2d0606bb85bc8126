import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../contract/clock.js';
import { cronSchedule, scheduleFault } from '../../../../exporter/sampler/cron-schedule.js';
import type { Schedule } from '../../../../exporter/sampler/ports.js';

describe('cron expressions', () => {
  it.each([
    ['61 * * * *', '"61" is no minute (0 to 59)'],
    ['* * * foo *', '"foo" is no month (1 to 12)'],
    ['every 5s', 'it has 2 fields, not five, or six that begin with the second'],
  ])('%s: %s', (expression, words) => {
    expect(scheduleFault(expression)).toContain(words);
  });

  it.each(['*/15 * * * * *', '* * * * *', '0 0 * * 1'])('%s is good', (expression) =>
    expect(scheduleFault(expression)).toBeUndefined(),
  );
  it.each(['', 'x', '61 * * * * *', '* * *', '* * * * * * *', '15s'])(
    '%j is no cron expression',
    (expression) => expect(scheduleFault(expression)).toContain('is no cron expression'),
  );
});

describe('ticks', () => {
  let schedule: Schedule | undefined;
  const ticks: number[] = [];

  function start(random = 0, tick = async () => {}): Schedule {
    ticks.length = 0;
    schedule = cronSchedule(
      '*/15 * * * * *',
      systemClock(),
      () => random,
    )(() => {
      ticks.push(Date.now() % 60_000);
      return tick();
    });
    return schedule;
  }

  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 2, 8, 6, 59, 50) });
  });
  afterEach(() => {
    schedule?.stop();
    vi.useRealTimers();
  });

  it('come at the seconds of the expression, a phase later', async () => {
    const { msToNext } = start(0.5);
    expect(typeof msToNext).toBe('function');
    expect(schedule?.msToNext()).toBe(10_000 + 2500);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ticks.map((at) => Math.round(at / 100) * 100)).toEqual([2500, 17_500, 32_500, 47_500]);
  });

  it('come also while one is under way, so that they can be counted as left out', async () => {
    start(0, () => new Promise((resolve) => setTimeout(resolve, 20_000)));
    await vi.advanceTimersByTimeAsync(69_000);
    expect(ticks).toHaveLength(4);
  });

  it('go on when the wall clock is set back by an hour (E6)', async () => {
    start();
    await vi.advanceTimersByTimeAsync(12_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ticks.length).toBeGreaterThanOrEqual(4);
  });

  // E6: node-cron/node-cron#492, #509; kelektiv/node-cron#120: a catch-up loop, or silence for an hour or a day.
  it.each([
    ['America/New_York', 'in March', Date.UTC(2026, 2, 8, 6, 59, 50)],
    ['America/New_York', 'in November', Date.UTC(2026, 10, 1, 5, 59, 50)],
    ['Europe/Vienna', 'in March', Date.UTC(2026, 2, 29, 0, 59, 50)],
    ['Europe/Vienna', 'in October', Date.UTC(2026, 9, 25, 0, 59, 50)],
  ])(
    'in %s go on at their interval when the clocks change %s, five minutes long (E6)',
    async (zone, _, now) => {
      vi.stubEnv('TZ', zone);
      try {
        vi.setSystemTime(now);
        const offset = () => new Date().getTimezoneOffset();
        const before = offset();
        start();
        const timers = vi.spyOn(globalThis, 'setTimeout');
        await vi.advanceTimersByTimeAsync(300_000);
        expect(offset()).not.toBe(before);
        expect(ticks.map((at) => (Math.round(at / 100) * 100) % 60_000)).toEqual(
          Array.from({ length: 20 }, (_unused, at) => (at * 15_000) % 60_000),
        );
        // A few for each tick: its next run, the watch over that, and the phase.
        expect(timers.mock.calls.length).toBeLessThanOrEqual(20 * 4);
      } finally {
        vi.unstubAllEnvs();
      }
    },
  );

  it('end with stop(), also in the middle of the phase', async () => {
    start(0.999);
    await vi.advanceTimersByTimeAsync(11_000);
    schedule?.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ticks).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
