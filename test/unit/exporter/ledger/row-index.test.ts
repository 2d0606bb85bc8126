import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digestOf, highWord, lowWord } from '../../../../exporter/ledger/digest-words.js';
import { RowIndex } from '../../../../exporter/ledger/row-index.js';

it.each(['0000000000000000', 'ffffffffffffffff', '0123456789abcdef', '80000000ffffffff', '7fffffff00000001'])(
  'the digest %s is the same after it was two words',
  (digest) => expect(digestOf(highWord(digest), lowWord(digest))).toBe(digest),
);

/** Few digests, many of which fall into the same slots of a small table. */
const digest = fc.nat({ max: 60 });
const step = fc.record({ digest, act: fc.constantFrom('set', 'set', 'delete', 'find') });

it.each([0, 123456789, -1])('finds what a map finds, with the seed %i', (seed) => {
  let deleted = 0;
  const property = fc.property(fc.array(step, { minLength: 100, maxLength: 400 }), (steps) => {
    const digests: number[] = [];
    const words = { highOf: (row: number) => digests[row] ?? -1, lowOf: () => 7 };
    const [index, model] = [new RowIndex(words, seed), new Map<number, number>()];
    for (const one of steps) {
      const known = model.get(one.digest);
      if (one.act === 'set') model.set(one.digest, digests.push(one.digest) - 1);
      if (one.act === 'set') index.set(digests.length - 1);
      if (one.act === 'delete' && known !== undefined) {
        deleted += 1;
        model.delete(one.digest);
        index.deleteRow(known);
      }
      expect(index.find(one.digest, 7)).toBe(model.get(one.digest));
      expect(index.size).toBe(model.size);
    }
    for (let each = 0; each <= 60; each += 1) expect(index.find(each, 7)).toBe(model.get(each));
  });
  fc.assert(property, { numRuns: 200 });
  expect(deleted).toBeGreaterThan(1000);
});

it('a row that never was added is not taken out', () => {
  const index = new RowIndex({ highOf: (row) => row, lowOf: () => 0 }, 0);
  index.set(1);
  index.deleteRow(2);
  expect([index.size, index.find(1, 0)]).toEqual([1, 1]);
});

it('100,000 rows are found again after it has grown, those taken out are not', () => {
  const index = new RowIndex({ highOf: (row) => row * 7, lowOf: (row) => row % 13 }, 42);
  for (let row = 0; row < 100_000; row += 1) index.set(row);
  for (let row = 0; row < 100_000; row += 2) index.deleteRow(row);
  let wrong = 0;
  for (let row = 0; row < 100_000; row += 1) {
    if (index.find(row * 7, row % 13) !== (row % 2 === 1 ? row : undefined)) wrong += 1;
  }
  expect([wrong, index.size]).toEqual([0, 50_000]);
});

it.each([
  ['the first bits of a digest', (row: number) => [row << 16, 7]],
  ['the last bits', (row: number) => [7, row]],
  ['the bits in the middle', (row: number) => [row >>> 8, row << 24]],
  ['both words alike', (row: number) => [row, row]],
  ['the first byte of both words', (row: number) => [(row >>> 8) << 24, (row & 255) << 24]],
] as const)(
  'rows that differ in %s only do not crowd: most are found at the first look',
  (_what, wordsOf) => {
    let looks = 0;
    const words = {
      highOf: (row: number) => {
        looks += 1;
        return wordsOf(row)[0] ?? 0;
      },
      lowOf: (row: number) => wordsOf(row)[1] ?? 0,
    };
    const index = new RowIndex(words, 99);
    for (let row = 0; row < 60_000; row += 1) index.set(row);
    // Each find of a row that is there looks at its first word at least once; crowding shows as the way that a deletion goes.
    looks = 0;
    for (let row = 0; row < 60_000; row += 1) index.deleteRow(row);
    expect(looks).toBeLessThan(60_000 * 6);
  },
);
