import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../contract/index.js';

describe('the clock of this machine', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('fires once, not before its time', async () => {
    const clock = systemClock();
    const startMs = clock.monoMs();
    const keepAlive = setInterval(() => {}, 1000);
    await new Promise<void>((resolve) => clock.setTimer(resolve, 20.4));
    clearInterval(keepAlive);
    expect(clock.monoMs() - startMs).toBeGreaterThanOrEqual(20.4);
  });

  // E2 (sindresorhus/delay#57, observablehq/runtime#37): above 2^31-1 ms setTimeout fires after 1 ms.
  it('a timer of 60 days waits 60 days', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    const fired = vi.fn();
    const sixtyDaysMs = 60 * 86_400_000;
    systemClock().setTimer(fired, sixtyDaysMs);
    vi.advanceTimersByTime(sixtyDaysMs - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  it.each([Number.NaN, -5, 0])('a delay of %s is now', (delayMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const fired = vi.fn();
    systemClock().setTimer(fired, delayMs);
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledTimes(1);
  });

  it('a cancelled timer never fires, and an infinite one can be cancelled', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const fired = vi.fn();
    const timers = [5, Number.POSITIVE_INFINITY].map((delayMs) => systemClock().setTimer(fired, delayMs));
    for (const timer of timers) timer.cancel();
    vi.advanceTimersByTime(2 ** 32);
    expect(fired).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});
