import type { CounterChild } from './children.js';
import type { CounterFamily } from './families.js';

/** Most words of one counter with series of their own; our own lists are shorter, so this is a safety net. */
export const MAX_WORDS = 64;
/** Where further words are counted. */
export const OTHER_WORD = 'other';

/** The children of a counter whose last label is a word from a short list, under fixed leading label values. */
export class WordCounter {
  readonly #family: CounterFamily;
  readonly #base: readonly string[];
  readonly #children = new Map<string, CounterChild>();

  constructor(family: CounterFamily, base: readonly string[] = []) {
    this.#family = family;
    this.#base = base;
  }

  /** Adds to the word's child, which is born when it is new. See `CounterChild.inc` for what is refused. */
  inc(word: string, amount = 1): boolean {
    return (this.#children.get(word) ?? this.#bear(word)).inc(amount);
  }

  /** The counts by word, of the words that came. */
  values(): Record<string, number> {
    return Object.fromEntries([...this.#children].map(([word, { value }]) => [word, value]));
  }

  #bear(word: string): CounterChild {
    const name = this.#children.size < MAX_WORDS ? word : OTHER_WORD;
    const child = this.#family.child([...this.#base, name]);
    if (name === word) this.#children.set(word, child);
    return child;
  }
}
