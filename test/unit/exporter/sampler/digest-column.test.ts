import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DigestColumn } from '../../../../exporter/sampler/digest-column.js';

const digest = fc
  .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 16, maxLength: 16 })
  .filter((text) => /[^0]/.test(text));

it('gives back what was set last, and knows it from all else', () => {
  const entry = fc.record({ row: fc.nat(300), text: fc.option(digest, { nil: null }) });
  fc.assert(
    fc.property(fc.array(entry), digest, (entries, other) => {
      const column = new DigestColumn();
      const last = new Map<number, string | null>();
      for (const { row, text } of entries) {
        column.set(row, text);
        last.set(row, text);
      }
      for (const [row, text] of last) {
        expect([column.get(row), column.is(row, text), column.is(row, other)]).toEqual([
          text,
          true,
          text === other,
        ]);
      }
      expect(column.get(301)).toBeNull();
    }),
  );
});
