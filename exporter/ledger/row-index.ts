/** What stands in a slot without a row. */
const EMPTY = -1;
/** Slots at the beginning; they double when half of them are taken. */
const FIRST_SLOTS = 1024;
/** Multipliers of MurmurHash3's last step (Appleby), which lets each bit of a word change each bit of the result. */
const SPREAD_FIRST = 0x85ebca6b;
const SPREAD_THEN = 0xc2b2ae35;

/** Says which digest a row of a table has, in two words. */
export interface RowWords {
  highOf(row: number): number;
  lowOf(row: number): number;
}

/**
 * Finds the row of a digest. A hash table of row numbers with open addressing: 16 to 32 bytes for a row, where a map from
 * texts takes 40 besides the text.
 */
export class RowIndex {
  readonly #words: RowWords;
  readonly #seed: number;
  #slots = new Int32Array(FIRST_SLOTS).fill(EMPTY);
  /** The last word of each slot's digest: nearly all comparisons end here, without a look at the row. */
  #lows = new Int32Array(FIRST_SLOTS);
  #size = 0;

  /**
   * @param words of the rows that were added
   * @param seed any 32 bits; unknown to clients, lest they send digests that all fall into the same slots
   */
  constructor(words: RowWords, seed: number) {
    this.#words = words;
    this.#seed = seed | 0;
  }

  get size(): number {
    return this.#size;
  }

  /** The row with this digest; undefined when there is none. */
  find(high: number, low: number): number | undefined {
    const row = this.#slots[this.#slotOf(high, low)] ?? EMPTY;
    return row === EMPTY ? undefined : row;
  }

  /** Adds a row, in the place of the one with the same digest, should there be one. */
  set(row: number): void {
    const low = this.#words.lowOf(row);
    const slot = this.#slotOf(this.#words.highOf(row), low);
    const isNew = this.#slots[slot] === EMPTY;
    this.#slots[slot] = row;
    this.#lows[slot] = low;
    if (!isNew) return;
    this.#size += 1;
    if (this.#size * 2 > this.#slots.length) this.#grow();
  }

  /** Takes the row with the digest of `row` out; nothing happens when there is none. What follows it moves up. */
  deleteRow(row: number): void {
    const mask = this.#slots.length - 1;
    let gap = this.#slotOf(this.#words.highOf(row), this.#words.lowOf(row));
    if (this.#slots[gap] === EMPTY) return;
    this.#size -= 1;
    for (let slot = (gap + 1) & mask; this.#rowAt(slot) !== EMPTY; slot = (slot + 1) & mask) {
      const [other, low] = [this.#rowAt(slot), this.#lows[slot] ?? 0];
      const home = this.#homeOf(this.#words.highOf(other), low);
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      this.#slots[gap] = other;
      this.#lows[gap] = low;
      gap = slot;
    }
    this.#slots[gap] = EMPTY;
  }

  /** The slot of the row with this digest, or the empty one in which it would stand. */
  #slotOf(high: number, low: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#homeOf(high, low);
    for (let row = this.#rowAt(slot); row !== EMPTY; row = this.#rowAt(slot)) {
      if (this.#lows[slot] === low && this.#words.highOf(row) === high) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #homeOf(high: number, low: number): number {
    return spread(spread(high ^ this.#seed) ^ low) & (this.#slots.length - 1);
  }

  #rowAt(slot: number): number {
    return this.#slots[slot] ?? EMPTY;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Int32Array(2 * before.length).fill(EMPTY);
    this.#lows = new Int32Array(2 * before.length);
    this.#size = 0;
    for (const row of before) if (row !== EMPTY) this.set(row);
  }
}

function spread(word: number): number {
  const first = Math.imul(word ^ (word >>> 16), SPREAD_FIRST);
  const then = Math.imul(first ^ (first >>> 13), SPREAD_THEN);
  return then ^ (then >>> 16);
}
