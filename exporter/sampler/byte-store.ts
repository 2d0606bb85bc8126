import { RowNumbers } from './row-numbers.js';

/** Places of a row's numbers. */
const BLOCK = 0;
const OFFSET = 1;
/** The length and 1; 0: the row has no bytes. */
const SIZE = 2;
const NUMBERS = 3;
/** Longer bytes have a block of their own. */
const BLOCK_BYTES = 65_536;

/**
 * Bytes by row number, one behind the other in a few buffers: as a string or Buffer of its own the name of a key takes
 * two to four times as much, and the collector has it to walk over.
 */
export class ByteStore {
  #blocks: Buffer[] = [];
  /** Of the last block. */
  #used = 0;
  #live = 0;
  /** Bytes that were some row's. */
  #dead = 0;
  readonly #numbers = new RowNumbers(NUMBERS);
  #rows = 0;

  /** Gives a row these bytes. It must have none. */
  set(row: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#put(row, bytes, start, length);
    this.#numbers.set(row, SIZE, length + 1);
    this.#rows = Math.max(this.#rows, row + 1);
    this.#live += length;
  }

  clear(row: number): void {
    const length = this.#length(row);
    this.#numbers.set(row, SIZE, 0);
    this.#live -= length;
    this.#dead += length;
    if (this.#dead > this.#live + BLOCK_BYTES) this.#rewrite();
  }

  has(row: number): boolean {
    return this.#numbers.get(row, SIZE) > 0;
  }

  /** Whether a row has just these bytes. */
  equals(row: number, bytes: Buffer, start: number, end: number): boolean {
    const length = end - start;
    if (this.#numbers.get(row, SIZE) !== length + 1) return false;
    const block = this.#block(row);
    const offset = this.#numbers.get(row, OFFSET);
    for (let at = 0; at < length; at += 1) {
      if (block[offset + at] !== bytes[start + at]) return false;
    }
    return true;
  }

  /** A row's bytes where they lie: not to be kept beyond the next change of the store. Empty when it has none. */
  read(row: number): Buffer {
    const offset = this.#numbers.get(row, OFFSET);
    return this.#block(row).subarray(offset, offset + this.#length(row));
  }

  /** A row's bytes as text; empty when it has none. */
  text(row: number, encoding: BufferEncoding): string {
    const offset = this.#numbers.get(row, OFFSET);
    return this.#block(row).toString(encoding, offset, offset + this.#length(row));
  }

  #put(row: number, bytes: Buffer, start: number, length: number): void {
    const last = this.#blocks.at(-1);
    if (last === undefined || this.#used + length > last.length) {
      this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, length)));
      this.#used = 0;
    }
    const block = this.#blocks.length - 1;
    if (length > 0) bytes.copy(this.#blocks[block] ?? NOTHING, this.#used, start, start + length);
    this.#numbers.set(row, BLOCK, block);
    this.#numbers.set(row, OFFSET, this.#used);
    this.#used += length;
  }

  /** Leaves behind what belongs to no row any more. */
  #rewrite(): void {
    const before = this.#blocks;
    this.#blocks = [];
    this.#dead = 0;
    for (let row = 0; row < this.#rows; row += 1) {
      if (!this.has(row)) continue;
      const bytes = before[this.#numbers.get(row, BLOCK)] ?? NOTHING;
      this.#put(row, bytes, this.#numbers.get(row, OFFSET), this.#length(row));
    }
  }

  #block(row: number): Buffer {
    return this.#blocks[this.#numbers.get(row, BLOCK)] ?? NOTHING;
  }

  #length(row: number): number {
    return Math.max(0, this.#numbers.get(row, SIZE) - 1);
  }
}

const NOTHING = Buffer.alloc(0);
