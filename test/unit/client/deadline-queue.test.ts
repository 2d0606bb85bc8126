import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DeadlineItem, DeadlineQueue, NOT_QUEUED } from '../../../client/deadline-queue.js';
import { FakeClock } from '../../support/clocks.js';

class Item implements DeadlineItem {
  dueMs = 0;
  queueIndex = NOT_QUEUED;
  constructor(
    readonly name: string,
    readonly onDue: (nowMs: number) => void,
  ) {}
}

test('items come due in order on one timer, whatever the order of their making', async () => {
  const clock = new FakeClock();
  const queue = new DeadlineQueue(clock);
  const fired: string[] = [];
  for (const dueMs of [300, 100, 200])
    queue.set(new Item('', () => fired.push(String(dueMs))), clock.monoMs() + dueMs);
  expect(clock.pendingTimers).toBe(1);
  await clock.advance(1000);
  expect(fired).toEqual(['100', '200', '300']);
  expect(clock.pendingTimers).toBe(0);
});

test('no item comes due early or is lost, through any mix of setting, moving and cancelling', async () => {
  const step = fc.record({
    item: fc.nat(9),
    dueMs: fc.integer({ min: 0, max: 50 }),
    cancels: fc.boolean(),
    passMs: fc.nat(9),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = new FakeClock(0, 0);
      const queue = new DeadlineQueue(clock);
      const due = new Map<Item, number>();
      const items = Array.from({ length: 10 }, (_, index) => {
        const item: Item = new Item(String(index), (nowMs) => {
          expect(nowMs).toBeGreaterThanOrEqual(due.get(item) ?? Number.POSITIVE_INFINITY);
          due.delete(item);
        });
        return item;
      });
      for (const { item: index, dueMs, cancels, passMs } of steps) {
        const item = items[index] as Item;
        if (cancels) {
          queue.cancel(item);
          due.delete(item);
        } else {
          due.set(item, clock.monoMs() + dueMs);
          queue.set(item, clock.monoMs() + dueMs);
        }
        expect(queue.size).toBe(due.size);
        if (passMs > 6) await clock.advance(passMs);
        for (const [, endMs] of due) expect(endMs).toBeGreaterThanOrEqual(clock.monoMs());
      }
      await clock.advance(60);
      expect(queue.size).toBe(0);
      expect(due.size).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('an item that throws does not keep the others from coming due', async () => {
  const clock = new FakeClock();
  const queue = new DeadlineQueue(clock);
  let fired = 0;
  queue.set(
    new Item('bad', () => {
      throw new Error('boom');
    }),
    clock.monoMs() + 1,
  );
  queue.set(
    new Item('good', () => {
      fired += 1;
    }),
    clock.monoMs() + 2,
  );
  await clock.advance(10);
  expect(fired).toBe(1);
});
