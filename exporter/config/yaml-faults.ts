import { type Document, isMap, isScalar, type YAMLError } from 'yaml';
import { quote } from './given.js';

/** What the errors of a YAML text say to who wrote it. */
export interface YamlFaults {
  /** One line each, with file and line. */
  readonly faults: readonly string[];
  /** Nothing in the text can be relied on. False for keys that stand there twice: the rest is read all the same. */
  readonly fatal: boolean;
}

/** In the order in which they are tried: by the parser's code, or by its words where one code means much. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/closing ['"].*quote/i, 'has a quote that is never closed'],
  [/end with a [\]}]/, 'has a [ or { that is never closed'],
  [/^TAB_AS_INDENT/, 'is indented with a tab; use spaces'],
  [
    /^BLOCK_AS_IMPLICIT_KEY/,
    'has a second ": ", or the line after it is indented too far; text with ": " in it needs quotes',
  ],
  [/^MULTILINE_IMPLICIT_KEY|followed by map values/, 'has no ": " between key and value'],
  [/^BAD_SCALAR_START/, 'has a value that must be in quotes, because of its first character'],
  [/^UNEXPECTED_TOKEN/, 'has something after the end of its value'],
  [/^BAD_INDENT/, 'is not indented like its neighbours'],
];
const NEVER_CLOSED = /never closed/;

/**
 * Puts the parser's errors into plain words, one for each line. What is never closed is told at the entry that
 * opens it: the parser notices it at the end of the file only.
 * @param at writes file and line of an offset
 */
export function describeYamlErrors(
  document: Document.Parsed,
  text: string,
  at: (offset: number) => string,
): YamlFaults {
  const byLine = new Map<string, string>();
  for (const error of document.errors) {
    const words = wordsOf(error, text);
    const start = NEVER_CLOSED.test(words) ? openedAt(document, error.pos[0]) : error.pos[0];
    if (!byLine.has(at(start))) byLine.set(at(start), words);
  }
  const faults = [...byLine].map(([line, words]) => `${line} ${words}`);
  return { faults, fatal: document.errors.some(({ code }) => code !== 'DUPLICATE_KEY') };
}

function wordsOf({ code, message, pos }: YAMLError, text: string): string {
  if (code === 'DUPLICATE_KEY') return `${quote(keyAt(text, pos[0]))} stands there a second time`;
  const known = WORDS.find(([pattern]) => pattern.test(code) || pattern.test(message));
  return known?.[1] ?? `is no YAML (${code})`;
}

/** A key ends at its colon; only names are repeated, never what may be a value. */
function keyAt(text: string, offset: number): string {
  return (
    /^["']?([A-Za-z0-9_.*<>:$-]*[A-Za-z0-9_.*<>$-])["']?\s*:/.exec(text.slice(offset, offset + 100))?.[1] ??
    'a key'
  );
}

/** Where the last entry before `offset` begins. */
function openedAt({ contents }: Document.Parsed, offset: number): number {
  if (!isMap(contents)) return offset;
  const starts = contents.items.flatMap(({ key }) => (isScalar(key) ? (key.range?.[0] ?? []) : []));
  return starts.filter((start) => start < offset).at(-1) ?? offset;
}
