import { expect, test } from 'vitest';
import { LOOP_SAMPLE_MS, LoopDelay } from '../../../client/loop-delay.js';
import { FakeClock } from '../../support/clocks.js';

function watch(isNeeded = () => true) {
  const clock = new FakeClock();
  const delay = new LoopDelay(clock, isNeeded);
  delay.start(clock.monoMs());
  return { clock, delay };
}

test('a stall that ends right now counts, though no timer has fired yet', () => {
  const { clock, delay } = watch();
  const sinceMs = clock.monoMs();
  clock.stall(500);
  expect(delay.worstSince(sinceMs, clock.monoMs())).toBe(500 - LOOP_SAMPLE_MS);
});

test('the worst since any moment: earlier stalls belong to earlier holds', async () => {
  const { clock, delay } = watch();
  const startMs = clock.monoMs();
  for (const stallMs of [300, 100, 200]) {
    clock.stall(stallMs);
    await clock.settle();
    await clock.advance(200);
  }
  const nowMs = clock.monoMs();
  expect(delay.worstSince(startMs, nowMs)).toBeGreaterThanOrEqual(300 - LOOP_SAMPLE_MS);
  const laterMs = delay.worstSince(startMs + 450, nowMs);
  expect(laterMs).toBeGreaterThanOrEqual(200 - LOOP_SAMPLE_MS);
  expect(laterMs).toBeLessThanOrEqual(200);
  expect(delay.worstSince(nowMs, nowMs)).toBe(0);
});

test('never more than the time it is asked about', async () => {
  const { clock, delay } = watch();
  clock.stall(1000);
  await clock.settle();
  expect(delay.worstSince(clock.monoMs() - 30, clock.monoMs())).toBeLessThanOrEqual(30);
});

test('an idle loop shows no delay, and the watch ends with the need for it', async () => {
  let needed = true;
  const { clock, delay } = watch(() => needed);
  await clock.advance(1000);
  expect(delay.worstSince(clock.monoMs() - 1000, clock.monoMs())).toBe(0);
  expect(clock.pendingTimers).toBe(1);
  needed = false;
  await clock.advance(LOOP_SAMPLE_MS);
  expect(clock.pendingTimers).toBe(0);
});
