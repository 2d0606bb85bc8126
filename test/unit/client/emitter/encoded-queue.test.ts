import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventServer } from '../../../../client/emitter/emitter.js';
import { EncodedQueue } from '../../../../client/emitter/encoded-queue.js';

const ROOM = 1_000_000;
const HERE: EventServer = { id: 'here' };

interface Text {
  number: number;
  filling?: string;
  urgent?: boolean;
  server?: EventServer;
}

function event({ number, filling = '', urgent = false, server = HERE }: Text) {
  const json = JSON.stringify([number, filling]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  return { json, isAscii: /^[\x00-\x7f]*$/.test(json), urgent, server };
}

/** The numbers of one batch, read from its bytes. */
function numbers({ parts, count }: ReturnType<EncodedQueue['take']>): number[] {
  const events = JSON.parse(`[${Buffer.concat(parts).toString('utf8')}]`) as [number, string][];
  expect(events.length).toBe(count);
  return events.map(([number]) => number);
}

function drain(queue: EncodedQueue): number[] {
  const all: number[] = [];
  while (queue.length > 0) all.push(...numbers(queue.take(1000, ROOM)));
  return all;
}

describe('EncodedQueue', () => {
  it('gives events back in the order they came, urgent or not, whatever their characters', () => {
    const queue = new EncodedQueue(10);
    const fillings = ['', 'ä', '錠'.repeat(20), 'x'];
    for (const [at, filling] of fillings.entries())
      expect(queue.push(event({ number: at, filling, urgent: at % 2 === 1 }))).toBe(true);
    expect(queue.hasUrgent).toBe(true);
    expect(numbers(queue.take(10, ROOM))).toEqual([0, 1, 2, 3]);
    expect(queue.hasUrgent).toBe(false);
  });

  it('lets the oldest event that is not urgent make room, and the oldest of all for an urgent one', () => {
    const queue = new EncodedQueue(3);
    queue.push(event({ number: 1, urgent: true }));
    queue.push(event({ number: 2 }));
    queue.push(event({ number: 3 }));
    expect(queue.push(event({ number: 4 }))).toBe(false);
    expect(queue.push(event({ number: 5, urgent: true }))).toBe(false);
    expect(queue.push(event({ number: 6, urgent: true }))).toBe(false);
    expect(queue.push(event({ number: 7 }))).toBe(false);
    expect(queue.push(event({ number: 8, urgent: true }))).toBe(false);
    expect(drain(queue)).toEqual([5, 6, 8]);
  });

  it('takes no more events and no more bytes than asked for', () => {
    const queue = new EncodedQueue(100);
    for (let number = 0; number < 50; number += 1) queue.push(event({ number, filling: 'x'.repeat(1000) }));
    expect(numbers(queue.take(7, ROOM))).toEqual([0, 1, 2, 3, 4, 5, 6]);
    const { parts, count } = queue.take(100, 5000);
    expect(count).toBe(4);
    expect(Buffer.concat(parts).length).toBeLessThanOrEqual(5000);
    expect(queue.take(100, 10)).toEqual({ parts: [], count: 0 });
    expect(queue.length).toBe(39);
  });

  it('takes events of one server at a time, and says which is next', () => {
    const queue = new EncodedQueue(100);
    const [first, second] = [{ id: 'run1' }, { id: 'run2' }];
    for (const [number, server] of [first, first, second, first].entries())
      queue.push(event({ number, server }));
    expect(queue.server).toBe(first);
    expect(numbers(queue.take(100, ROOM))).toEqual([0, 1]);
    expect(queue.server).toBe(second);
    expect(numbers(queue.take(100, ROOM))).toEqual([2]);
    expect(numbers(queue.take(100, ROOM))).toEqual([3]);
    expect(queue.server).toBeUndefined();
  });

  it('is empty after clear, and can be used again', () => {
    const queue = new EncodedQueue(100);
    for (let number = 0; number < 10; number += 1) queue.push(event({ number }));
    queue.take(3, ROOM);
    expect(queue.clear()).toBe(7);
    queue.push(event({ number: 11 }));
    expect(drain(queue)).toEqual([11]);
  });

  it('keeps little memory for few events, also when urgent ones stand between ordinary ones', () => {
    const queue = new EncodedQueue(2000);
    const before = process.memoryUsage().arrayBuffers;
    for (let number = 0; number < 2000; number += 1) queue.push(event({ number, urgent: number % 2 === 1 }));
    // A whole chunk for each would be 64 MB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40_000_000);
    expect(drain(queue).length).toBe(2000);
  });

  it('behaves like a list that is searched, for every sequence of pushes and takes', () => {
    const step = fc.oneof(
      fc.record({ urgent: fc.boolean(), filling: fc.string({ unit: 'binary', maxLength: 5000 }) }),
      fc.integer({ min: 1, max: 5 }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 200 }), (limit, steps) => {
        const queue = new EncodedQueue(limit);
        const model: { number: number; urgent: boolean }[] = [];
        for (const [number, step] of steps.entries()) {
          if (typeof step === 'number') {
            expect(numbers(queue.take(step, ROOM))).toEqual(model.splice(0, step).map((one) => one.number));
            continue;
          }
          const { urgent, filling } = step;
          expect(queue.push(event({ number, urgent, filling }))).toBe(model.length < limit);
          model.push({ number, urgent });
          if (model.length <= limit) continue;
          const victim = model.findIndex((entry) => !entry.urgent);
          model.splice(Math.max(0, victim), 1);
        }
        expect(queue.length).toBe(model.length);
        expect(drain(queue)).toEqual(model.map(({ number }) => number));
      }),
    );
  });
});
