import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteTable } from '../../../../exporter/sampler/byte-table.js';

/** The bytes in the middle of others, as a reply of Redis has them. */
function within(text: string): [bytes: Buffer, start: number, end: number] {
  const bytes = Buffer.from(`before ${text} behind`);
  return [bytes, 'before '.length, bytes.length - ' behind'.length];
}

function rowsOf(table: ByteTable): string[] {
  const rows = Array.from({ length: table.rows }, (_, row) => row).filter((row) => table.has(row));
  return rows.map((row) => table.text(row, 'utf8')).sort();
}

it('is a set of byte strings, whatever comes, also where nearly all meet at few places', () => {
  const step = fc.record({ name: fc.string({ maxLength: 3 }), removes: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), fc.integer(), (steps, seed) => {
      const table = new ByteTable(seed);
      const names = new Set<string>();
      for (const { name, removes } of steps) {
        const row = table.find(...within(name));
        expect(row >= 0).toBe(names.has(name));
        if (row >= 0) expect(table.text(row, 'utf8')).toBe(name);
        if (removes && row >= 0) table.remove(row);
        if (!removes && row < 0) table.add(...within(name));
        if (removes) names.delete(name);
        else names.add(name);
      }
      expect([table.size, rowsOf(table)]).toEqual([names.size, [...names].sort()]);
    }),
  );
});

it('keeps its rows while it grows, and uses those again that were removed', () => {
  const table = new ByteTable(1);
  const names = Array.from({ length: 5000 }, (_, at) => `lock:${'x'.repeat(at % 50)}${at}`);
  const rows = names.map((name) => table.add(...within(name)));
  expect(rows).toEqual(names.map((_, at) => at));
  for (const [at, name] of names.entries()) expect(table.find(...within(name))).toBe(at);
  for (let row = 0; row < 4990; row += 1) table.remove(row);
  for (const [at, name] of names.entries()) expect(table.find(...within(name))).toBe(at < 4990 ? -1 : at);
  for (const name of names.slice(0, 4990)) table.add(...within(name));
  expect([table.size, table.rows]).toEqual([5000, 5000]);
  for (const [row, name] of rowsInOrder(table).entries()) expect(table.find(...within(name))).toBe(row);
});

function rowsInOrder(table: ByteTable): string[] {
  return Array.from({ length: table.rows }, (_, row) => table.read(row).toString());
}

it('keeps names that are longer than any block beside short ones', () => {
  const table = new ByteTable(2);
  const names = ['a', 'x'.repeat(70_000), '', 'y'.repeat(65_536), 'b'];
  for (const name of names) table.add(...within(name));
  for (const [row, name] of names.entries()) {
    expect([table.find(...within(name)), table.text(row, 'latin1') === name]).toEqual([row, true]);
  }
  for (const row of [1, 3]) table.remove(row);
  for (const row of [0, 2, 4]) expect(table.text(row, 'latin1')).toBe(names[row]);
});
