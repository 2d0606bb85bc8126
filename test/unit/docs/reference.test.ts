import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { referencePages } from '../../../docs/generator/pages.js';

const REFERENCE = fileURLToPath(new URL('../../../docs/reference', import.meta.url));

/** Where the files on disk differ from the pages; empty when they are the same. */
function differences(pages: ReadonlyMap<string, string>, files: ReadonlyMap<string, string>): string[] {
  const names = new Set([...pages.keys(), ...files.keys()]);
  return [...names]
    .filter((name) => pages.get(name) !== files.get(name))
    .map((name) => `${name} (run: npm run docs)`);
}

function readFiles(): Map<string, string> {
  const names = readdirSync(REFERENCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(md|json)$/.test(name),
  );
  return new Map(names.map((name) => [name, readFileSync(join(REFERENCE, name), 'utf8')]));
}

describe('the reference', () => {
  it('says what the code says', () => {
    expect(differences(referencePages(), readFiles())).toEqual([]);
  });

  it('has a meaning for every field, option and metric', () => {
    const rows = [...referencePages()].flatMap(([name, text]) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .map((line) => `${name} ${line}`),
    );
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter((row) => row.endsWith('|  |') && !row.includes('| `"'))).toEqual([]);
  });

  it('is found out when a page is stale, missing or left over', () => {
    const pages = new Map([
      ['a.md', 'new'],
      ['b.md', 'same'],
      ['c.md', 'missing'],
    ]);
    const files = new Map([
      ['a.md', 'old'],
      ['b.md', 'same'],
      ['d.md', 'left over'],
    ]);
    expect(differences(pages, files).map((line) => line.slice(0, 4))).toEqual(['a.md', 'c.md', 'd.md']);
  });
});
