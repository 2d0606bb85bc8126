import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FILES = ['release', 'renew', 'check'];

/** From the look at the lock to the answers of somebody who does not own it. A script is one file, so three have it. */
function notOwnedBlock(source: string): string {
  const from = source.indexOf("local holder = redis.pcall('GET', lock)\n");
  const last = "return 'expired ' .. server_us .. ' ' .. latest\nend\n";
  const to = source.indexOf(last, from);
  if (from < 0 || to < 0) throw new Error('the block is not there');
  return source.slice(from, to + last.length);
}

function differing(sources: readonly string[]): number {
  return new Set(sources.map(notOwnedBlock)).size - 1;
}

describe('the scripts that tell "you do not own this lock"', () => {
  const sources = FILES.map((name) =>
    readFileSync(new URL(`../../../lua/${name}.lua`, import.meta.url), 'utf8'),
  );

  it('tell it by the same lines', () => {
    expect(differing(sources)).toBe(0);
  });

  it('the gate can fail', () => {
    const [first = '', ...others] = sources;
    expect(differing([first.replace("latest = '- -'", "latest = '-'"), ...others])).toBe(1);
  });
});
