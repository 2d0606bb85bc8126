import { readFileSync } from 'node:fs';

/** Lines that several scripts have, since a script is one file: from the first of these texts to the end of the second. */
export interface Block {
  readonly from: string;
  readonly last: string;
}

/** The texts of these scripts. */
export function readScripts(names: readonly string[]): string[] {
  return names.map((name) => readFileSync(new URL(`../../../lua/${name}.lua`, import.meta.url), 'utf8'));
}

/** How many further forms the block has in these scripts; 0: it is the same in all. @throws Error when one has it not */
export function countOtherForms(sources: readonly string[], block: Block): number {
  return new Set(sources.map((source) => blockOf(source, block))).size - 1;
}

function blockOf(source: string, { from, last }: Block): string {
  const start = source.indexOf(from);
  const end = source.indexOf(last, start);
  if (start < 0 || end < 0) throw new Error('the block is not there');
  return source.slice(start, end + last.length);
}
