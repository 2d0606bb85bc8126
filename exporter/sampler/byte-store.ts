/** Places in a row's entry. */
const OFFSET = 0;
const LENGTH = 1;
const ENTRY = 2;
/** In the place of a length: the row has no bytes. */
const NONE = -1;
/** Room when nothing is stored yet. */
const FIRST_ROWS = 64;
const FIRST_BYTES = 4096;
/** A store that is full gets so much more room than it needs: half as much would be copied twice as often. */
const GROWTH = 1.25;

/**
 * Bytes by row number, all in one buffer: as a string or Buffer of its own the name of a key takes two to four times
 * as much, and the collector has it to walk over.
 */
export class ByteStore {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  /** Of the used bytes those that rows have; the rest was some row's. */
  #live = 0;
  #entries = new Int32Array(FIRST_ROWS * ENTRY).fill(NONE);

  /** Gives a row these bytes. It must have none. */
  set(row: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#used + length > this.#bytes.length) this.#rewrite(length);
    if ((row + 1) * ENTRY > this.#entries.length) this.#addRows(row + 1);
    bytes.copy(this.#bytes, this.#used, start, end);
    this.#entries[row * ENTRY + OFFSET] = this.#used;
    this.#entries[row * ENTRY + LENGTH] = length;
    this.#used += length;
    this.#live += length;
  }

  clear(row: number): void {
    this.#live -= Math.max(0, this.#length(row));
    this.#entries[row * ENTRY + LENGTH] = NONE;
  }

  has(row: number): boolean {
    return this.#length(row) !== NONE;
  }

  /** Whether a row has just these bytes. */
  equals(row: number, bytes: Buffer, start: number, end: number): boolean {
    const length = this.#length(row);
    if (length !== end - start) return false;
    const offset = this.#offset(row);
    for (let at = 0; at < length; at += 1) {
      if (this.#bytes[offset + at] !== bytes[start + at]) return false;
    }
    return true;
  }

  /** A copy of a row's bytes; empty when it has none. */
  read(row: number): Buffer {
    const offset = this.#offset(row);
    return Buffer.from(this.#bytes.subarray(offset, offset + Math.max(0, this.#length(row))));
  }

  /** A row's bytes as text; empty when it has none. */
  text(row: number, encoding: BufferEncoding): string {
    const offset = this.#offset(row);
    return this.#bytes.toString(encoding, offset, offset + Math.max(0, this.#length(row)));
  }

  /** Leaves behind what belongs to no row any more. */
  #rewrite(more: number): void {
    const room = Math.max(FIRST_BYTES, Math.ceil((this.#live + more) * GROWTH));
    const bytes = Buffer.allocUnsafeSlow(room);
    let used = 0;
    for (let row = 0; row * ENTRY < this.#entries.length; row += 1) {
      if (!this.has(row)) continue;
      const offset = this.#offset(row);
      this.#entries[row * ENTRY + OFFSET] = used;
      used += this.#bytes.copy(bytes, used, offset, offset + this.#length(row));
    }
    this.#bytes = bytes;
    this.#used = used;
  }

  #addRows(rows: number): void {
    const entries = new Int32Array(Math.ceil(rows * GROWTH) * ENTRY).fill(NONE);
    entries.set(this.#entries);
    this.#entries = entries;
  }

  #offset(row: number): number {
    return this.#entries[row * ENTRY + OFFSET] ?? 0;
  }

  #length(row: number): number {
    return this.#entries[row * ENTRY + LENGTH] ?? NONE;
  }
}
