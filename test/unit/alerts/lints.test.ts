import { describe, expect, it } from 'vitest';
import { LINTS } from './lints/all.js';
import { shippedPack } from './shipped-pack.js';

describe.each(LINTS.map((lint) => [lint.name, lint] as const))('lint %s', (_, lint) => {
  it('finds nothing in the shipped rules', () => {
    expect(lint.check(shippedPack())).toEqual([]);
  });

  it('finds the fault of its broken example', () => {
    expect(lint.check(lint.broken(shippedPack()))).not.toEqual([]);
  });
});
