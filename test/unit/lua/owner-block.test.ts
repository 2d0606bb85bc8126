import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FILES = ['sample', 'look'];

/** How a key's owner is found out. A script is one file, so two have it. */
function ownerBlock(source: string): string {
  const from = source.indexOf('local function is_moved(reply)\n');
  const last = '  return owner\nend\n';
  const to = source.indexOf(last, from);
  if (from < 0 || to < 0) throw new Error('the block is not there');
  return source.slice(from, to + last.length);
}

function differing(sources: readonly string[]): number {
  return new Set(sources.map(ownerBlock)).size - 1;
}

describe('the scripts that tell whose a key is', () => {
  const sources = FILES.map((name) =>
    readFileSync(new URL(`../../../lua/${name}.lua`, import.meta.url), 'utf8'),
  );

  it('tell it by the same lines', () => {
    expect(differing(sources)).toBe(0);
  });

  it('the gate can fail', () => {
    const [first = '', ...others] = sources;
    expect(differing([first.replace('<= longest', '< longest'), ...others])).toBe(1);
  });
});
