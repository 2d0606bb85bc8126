import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../docs/generator/http-fields.js';
import { parsePromql } from '../../support/promql.js';
import { unknownNames } from './lints/known-names.js';
import { readAlertsFile } from './shipped.js';
import { shippedPack } from './shipped-pack.js';

const pack = shippedPack();
const text = readAlertsFile('procedures.md');

/** The headings of a page as a link names them. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Links of the runbooks and of the page itself to a part of the page that is not there. */
function deadLinks(pages: ReadonlyMap<string, string>, markdown: string): string[] {
  const anchors = anchorsOf(markdown);
  return [...pages, ['procedures.md', markdown] as const].flatMap(([page, body]) =>
    [...body.matchAll(/\((?:\.\.\/procedures\.md)?#([\w-]+)\)/g)]
      .filter(([, anchor = '']) => !anchors.includes(anchor))
      .map(([, anchor]) => `${page}: ${anchor}`),
  );
}

describe('alerts/procedures.md', () => {
  const queries = [...text.matchAll(/```promql\n([\s\S]*?)```/g)]
    .flatMap(([, block = '']) => block.trim().split('\n'))
    .filter((line) => !line.startsWith('#'));

  it('has queries that can be asked, each with a condition', () => {
    expect(queries.length).toBeGreaterThan(3);
    for (const query of queries) {
      expect([...parsePromql(query).errors(), ...unknownNames(query, pack)], query).toEqual([]);
      expect(query).toMatch(/(>|>=) [\d.]+$/);
    }
  });

  it('leads from each cause that a finding may have to a row', () => {
    const rows = new Map(
      [...text.matchAll(/^\| `(\w+)` +\|[^|]+\| ([^|]+?) *\|$/gm)].map(([, cause, row]) => [cause, row]),
    );
    expect([...rows.keys()].sort()).toEqual(Object.keys(CAUSES).sort());
    const numbers = [...text.matchAll(/^\| (\d) +\|/gm)].map(([, number]) => number);
    for (const row of rows.values())
      for (const number of row?.match(/\d/g) ?? []) expect(numbers).toContain(number);
  });

  it('has each part that a link names', () => {
    expect(deadLinks(pack.runbooks, text)).toEqual([]);
    expect(deadLinks(new Map([['a.md', '[x](../procedures.md#nowhere)']]), text)).toEqual(['a.md: nowhere']);
  });
});
