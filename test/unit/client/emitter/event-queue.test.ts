import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PendingEvent } from '../../../../client/emitter/emitter.js';
import { EventQueue } from '../../../../client/emitter/event-queue.js';
import { numberedEvent, numberOf, pending } from './test-events.js';

function drain(queue: EventQueue): number[] {
  const numbers: number[] = [];
  for (let event = queue.shift(); event; event = queue.shift()) numbers.push(numberOf(event.encode()));
  return numbers;
}

describe('EventQueue', () => {
  it('gives events back in the order they came, urgent or not', () => {
    const queue = new EventQueue(10);
    for (const [number, urgent] of [
      [1, false],
      [2, true],
      [3, false],
      [4, true],
    ] as const) {
      expect(queue.push(pending(number, urgent))).toBe(true);
    }
    expect(drain(queue)).toEqual([1, 2, 3, 4]);
  });

  it('lets the oldest event that is not urgent make room when it is full', () => {
    const queue = new EventQueue(3);
    queue.push(pending(1, true));
    queue.push(pending(2));
    queue.push(pending(3));
    expect(queue.push(pending(4))).toBe(false);
    expect(queue.push(pending(5, true))).toBe(false);
    expect(drain(queue)).toEqual([1, 4, 5]);
  });

  it('does not let an ordinary event crowd out urgent ones, and lets the oldest urgent one go for an urgent one', () => {
    const queue = new EventQueue(2);
    queue.push(pending(1, true));
    queue.push(pending(2, true));
    expect(queue.push(pending(3))).toBe(false);
    expect(queue.push(pending(4, true))).toBe(false);
    expect(drain(queue)).toEqual([2, 4]);
  });

  it('never encodes an event that it drops', () => {
    const queue = new EventQueue(1);
    let encoded = 0;
    const encode = () => {
      encoded += 1;
      return numberedEvent(0);
    };
    const event: PendingEvent = { urgent: false, encode };
    for (let push = 0; push < 5; push += 1) queue.push(event);
    expect(encoded).toBe(0);
  });

  it('behaves like a list that is searched, for every sequence of pushes and shifts', () => {
    const steps = fc.array(fc.constantFrom('push', 'urgent', 'shift'), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), steps, (limit, sequence) => {
        const queue = new EventQueue(limit);
        const model: { number: number; urgent: boolean }[] = [];
        sequence.forEach((step, number) => {
          if (step === 'shift') {
            const got = queue.shift();
            expect(got && numberOf(got.encode())).toBe(model.shift()?.number);
            return;
          }
          const urgent = step === 'urgent';
          expect(queue.push(pending(number, urgent))).toBe(model.length < limit);
          model.push({ number, urgent });
          if (model.length <= limit) return;
          const victim = model.findIndex((entry) => !entry.urgent);
          model.splice(Math.max(0, victim), 1);
        });
        expect(queue.length).toBe(model.length);
        expect(drain(queue)).toEqual(model.map(({ number }) => number));
      }),
    );
  });
});
