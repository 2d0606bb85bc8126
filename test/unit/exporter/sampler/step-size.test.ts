import { expect, it } from 'vitest';
import { DutyBudget } from '../../../../exporter/sampler/duty-budget.js';
import { StepSize } from '../../../../exporter/sampler/step-size.js';

/** Steps against a server that needs so many µs per slot. */
function settle(usPerSlot: (step: number) => number, steps = 60): { size: StepSize; worst: number } {
  const size = new StepSize();
  let worst = 0;
  for (let step = 0; step < steps; step += 1) {
    const costUs = size.count * usPerSlot(step);
    if (step > steps / 2) worst = Math.max(worst, costUs);
    size.learn(costUs);
  }
  return { size, worst };
}

it.each([0.2, 1, 3, 10, 30])('at %d µs a slot a step settles below 1 ms of the server', (usPerSlot) => {
  expect(settle(() => usPerSlot).worst).toBeLessThan(1000);
});

it('the step shrinks at once when the keys get dear, and recovers from one odd step', () => {
  const size = settle(() => 0.2).size;
  const before = size.count;
  size.learn(before * 0.2 + 50_000);
  expect(size.count).toBeGreaterThan(before / 3);
  for (let step = 0; step < 5; step += 1) size.learn(size.count * 20);
  expect(size.count * 20).toBeLessThan(1500);
});

it('a cost that cannot be is not learned from', () => {
  const size = new StepSize();
  const before = size.count;
  for (const cost of [0, -5, Number.NaN]) size.learn(cost);
  expect(size.count).toBe(before);
});

it('after a sweep of 150 ms, a share of 1 % is free again 15 s after the start', () => {
  const duty = new DutyBudget(0.01);
  expect(duty.waitMs(0)).toBe(0);
  duty.spend(1000, 150_000);
  expect(duty.waitMs(2000)).toBe(14_000);
  expect(duty.waitMs(16_000)).toBe(0);
});
