import { ByteStore } from './byte-store.js';

/** Places when nothing is in the table yet; always a power of two. */
const FIRST_PLACES = 128;
/** The table grows when this share of its places is taken: beyond it, the ways to a row get long. */
const FULL = 0.75;
/** Of FNV-1a, a hash that takes a byte at a time. */
const PRIME = 16_777_619;
const BASIS = 2_166_136_261;

/** Finds rows by their bytes, wherever these lie: nothing is made for a look. Rows are numbered from 0, without gaps but for those that were removed. */
export class ByteTable {
  readonly #basis: number;
  readonly #store = new ByteStore();
  /** At the place that a row's hash names, or the next free one behind it: its number and 1; 0: no row. */
  #places = new Int32Array(FIRST_PLACES);
  readonly #free: number[] = [];
  #rows = 0;

  /** @param seed any number; where others choose the bytes they must not know it, or they can make all looks slow */
  constructor(seed: number) {
    this.#basis = BASIS ^ seed;
  }

  /** How many rows there are. */
  get size(): number {
    return this.#rows - this.#free.length;
  }

  /** One more than the highest number of a row so far. */
  get rows(): number {
    return this.#rows;
  }

  has(row: number): boolean {
    return this.#store.has(row);
  }

  /** The row of these bytes, those of `bytes` from `start` up to, but not including, `end`; -1 when there is none. */
  find(bytes: Buffer, start: number, end: number): number {
    let place = this.#placeOf(bytes, start, end);
    for (;;) {
      const row = this.#rowAt(place);
      if (row < 0 || this.#store.equals(row, bytes, start, end)) return row;
      place = this.#after(place);
    }
  }

  /** A new row for these bytes, which must have none; perhaps one that was removed. */
  add(bytes: Buffer, start: number, end: number): number {
    if (this.size + 1 > this.#places.length * FULL) this.#grow();
    const row = this.#free.pop() ?? this.#rows;
    if (row === this.#rows) this.#rows += 1;
    this.#store.set(row, bytes, start, end);
    this.#enter(row, this.#placeOf(bytes, start, end));
    return row;
  }

  remove(row: number): void {
    let gap = this.#hashPlace(row);
    while (this.#rowAt(gap) !== row) gap = this.#after(gap);
    this.#store.clear(row);
    this.#free.push(row);
    this.#closeGap(gap);
  }

  /** The row's bytes where they lie: not to be kept beyond the next change of the table. */
  read(row: number): Buffer {
    return this.#store.read(row);
  }

  text(row: number, encoding: BufferEncoding): string {
    return this.#store.text(row, encoding);
  }

  /** Moves up what lies behind, up to the next free place, so that a look never ends at a gap before its row. */
  #closeGap(at: number): void {
    let gap = at;
    for (let place = this.#after(gap); this.#rowAt(place) >= 0; place = this.#after(place)) {
      const way = this.#distance(this.#hashPlace(this.#rowAt(place)), place);
      if (way < this.#distance(gap, place)) continue;
      this.#places[gap] = this.#places[place] ?? 0;
      gap = place;
    }
    this.#places[gap] = 0;
  }

  #grow(): void {
    this.#places = new Int32Array(this.#places.length * 2);
    for (let row = 0; row < this.#rows; row += 1) if (this.has(row)) this.#enter(row, this.#hashPlace(row));
  }

  #enter(row: number, hashed: number): void {
    let place = hashed;
    while (this.#rowAt(place) >= 0) place = this.#after(place);
    this.#places[place] = row + 1;
  }

  #rowAt(place: number): number {
    return (this.#places[place] ?? 0) - 1;
  }

  #after(place: number): number {
    return (place + 1) & (this.#places.length - 1);
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.#places.length - 1);
  }

  #hashPlace(row: number): number {
    const bytes = this.read(row);
    return this.#placeOf(bytes, 0, bytes.length);
  }

  #placeOf(bytes: Buffer, start: number, end: number): number {
    let hash = this.#basis;
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
    return (hash ^ (hash >>> 15)) & (this.#places.length - 1);
  }
}
