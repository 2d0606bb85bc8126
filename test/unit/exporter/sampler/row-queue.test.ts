import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RowQueue } from '../../../../exporter/sampler/row-queue.js';

it('gives its rows in the order in which they came, whichever left', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(12)), (rows) => {
      const queue = new RowQueue();
      const expected = new Set<number>();
      for (const row of rows) {
        if (expected.delete(row)) queue.remove(row);
        else {
          queue.append(row);
          expected.add(row);
        }
        const [first = -1] = expected;
        expect([queue.first, [...queue]]).toEqual([first, [...expected]]);
      }
    }),
  );
});

it('goes on where the row that is walked over leaves', () => {
  const queue = new RowQueue();
  for (const row of [2000, 1, 7]) queue.append(row);
  const walked: number[] = [];
  for (const row of queue) {
    walked.push(row);
    queue.remove(row);
  }
  expect([walked, [...queue]]).toEqual([[2000, 1, 7], []]);
});
