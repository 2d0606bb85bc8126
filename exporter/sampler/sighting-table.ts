import type { KeyspacePart } from './keyspace-view.js';
import type { OwnSighting } from './sighting.js';

/** Places of a row's numbers; NaN stands for `null`. */
const EXPIRES_MONO_MS = 0;
const EXPIRES_US = 1;
const LONGEST_LEFT_MS = 2;
const FIRST_SEEN_MONO_MS = 3;
const FIRST_SEEN_US = 4;
const LAST_SEEN_US = 5;
const SWEEP = 6;
const NUMBERS = 7;
const ROWS_PER_BLOCK = 1024;
/** Places of a row's texts. */
const KEY = 0;
const OWNER = 1;
const TYPE = 2;
const RESOURCE = 3;
const TEXTS = 4;
/** More texts are not shared: names of resources are few. */
const MAX_SHARED_TEXTS = 1024;

/**
 * Sightings by key, in a few large arrays: as an object of its own a sighting took 766 bytes, here it takes some 200.
 * The room of a row that was removed is used again; the arrays keep the room of the busiest time, 100 bytes for a row.
 */
export class SightingTable {
  readonly #rows = new Map<string, number>();
  readonly #columns = new Columns();
  readonly #free: number[] = [];
  #used = 0;

  get size(): number {
    return this.#rows.size;
  }

  /** The row of a key; undefined when there is none. */
  find(keyBytes: string): SightingRow | undefined {
    const row = this.#rows.get(keyBytes);
    return row === undefined ? undefined : new SightingRow(this.#columns, row);
  }

  /** A new row, all of which is to be filled in. */
  add(keyBytes: string, resource: string, part: KeyspacePart): SightingRow {
    const row = this.#free.pop() ?? this.#used;
    if (row === this.#used) {
      this.#used += 1;
      this.#columns.grow(this.#used);
    }
    this.#rows.set(keyBytes, row);
    const sighting = new SightingRow(this.#columns, row);
    sighting.begin(keyBytes, resource, part);
    return sighting;
  }

  remove(sighting: SightingRow): void {
    this.#rows.delete(sighting.keyBytes);
    this.#free.push(sighting.row);
    sighting.clear();
  }

  /** All rows. What is added while this runs may be left out. */
  *values(): IterableIterator<SightingRow> {
    for (let row = 0; row < this.#used; row += 1) {
      if (this.#columns.texts[row * TEXTS + KEY] !== null) yield new SightingRow(this.#columns, row);
    }
  }
}

/** What the rows keep, each kind in an array. */
class Columns {
  /** In blocks, so that growing copies nothing. */
  readonly blocks: Float64Array[] = [];
  readonly texts: (string | null)[] = [];
  readonly parts: (KeyspacePart | undefined)[] = [];
  readonly #shared = new Map<string, string>();

  /** Where the numbers of a row lie. */
  blockOf(row: number): Float64Array {
    const block = this.blocks[Math.floor(row / ROWS_PER_BLOCK)];
    if (block === undefined) throw new Error(`There is no row ${row}`);
    return block;
  }

  /** Makes room for so many rows, one more than before. */
  grow(rows: number): void {
    if (rows > this.blocks.length * ROWS_PER_BLOCK)
      this.blocks.push(new Float64Array(ROWS_PER_BLOCK * NUMBERS));
    this.texts.push(null, null, null, null);
    this.parts.push(undefined);
  }

  /** One text for all that say the same. */
  share(text: string): string {
    const known = this.#shared.get(text);
    if (known !== undefined) return known;
    if (this.#shared.size < MAX_SHARED_TEXTS) this.#shared.set(text, text);
    return text;
  }
}

/** A row of the table, read and written in place. Not to be kept: its row may become another key's. */
export class SightingRow implements OwnSighting {
  readonly row: number;
  readonly #columns: Columns;
  readonly #numbers: Float64Array;
  readonly #at: number;

  constructor(columns: Columns, row: number) {
    this.row = row;
    this.#columns = columns;
    this.#numbers = columns.blockOf(row);
    this.#at = (row % ROWS_PER_BLOCK) * NUMBERS;
  }

  begin(keyBytes: string, resource: string, part: KeyspacePart): void {
    this.#setText(KEY, keyBytes);
    this.resource = resource;
    this.part = part;
  }

  clear(): void {
    this.#columns.texts.fill(null, this.row * TEXTS, (this.row + 1) * TEXTS);
    this.#columns.parts[this.row] = undefined;
  }

  get keyBytes(): string {
    return this.#text(KEY) ?? '';
  }

  get resource(): string {
    return this.#text(RESOURCE) ?? '';
  }

  set resource(resource: string) {
    this.#setText(RESOURCE, this.#columns.share(resource));
  }

  get type(): string | null {
    return this.#text(TYPE);
  }

  set type(type: string | null) {
    if (type !== this.#text(TYPE)) this.#setText(TYPE, type === null ? null : this.#columns.share(type));
  }

  get owner(): string | null {
    return this.#text(OWNER);
  }

  /** Another text of the same owner is not kept: it is younger, and would outlive its reply. */
  set owner(owner: string | null) {
    if (owner !== this.#text(OWNER)) this.#setText(OWNER, owner);
  }

  /** The part of the keyspace that it was last seen in. */
  get part(): KeyspacePart {
    const part = this.#columns.parts[this.row];
    if (part === undefined) throw new Error('A sighting was kept beyond its removal');
    return part;
  }

  set part(part: KeyspacePart) {
    this.#columns.parts[this.row] = part;
  }

  get expiresMonoMs(): number | null {
    return orNull(this.#number(EXPIRES_MONO_MS));
  }

  set expiresMonoMs(ms: number | null) {
    this.#numbers[this.#at + EXPIRES_MONO_MS] = ms ?? Number.NaN;
  }

  get expiresUs(): number | null {
    return orNull(this.#number(EXPIRES_US));
  }

  set expiresUs(us: number | null) {
    this.#numbers[this.#at + EXPIRES_US] = us ?? Number.NaN;
  }

  get longestLeftMs(): number {
    return this.#number(LONGEST_LEFT_MS);
  }

  set longestLeftMs(ms: number) {
    this.#numbers[this.#at + LONGEST_LEFT_MS] = ms;
  }

  get firstSeenMonoMs(): number {
    return this.#number(FIRST_SEEN_MONO_MS);
  }

  set firstSeenMonoMs(ms: number) {
    this.#numbers[this.#at + FIRST_SEEN_MONO_MS] = ms;
  }

  get firstSeenUs(): number {
    return this.#number(FIRST_SEEN_US);
  }

  set firstSeenUs(us: number) {
    this.#numbers[this.#at + FIRST_SEEN_US] = us;
  }

  get lastSeenUs(): number {
    return this.#number(LAST_SEEN_US);
  }

  set lastSeenUs(us: number) {
    this.#numbers[this.#at + LAST_SEEN_US] = us;
  }

  get sweep(): number {
    return this.#number(SWEEP);
  }

  set sweep(sweep: number) {
    this.#numbers[this.#at + SWEEP] = sweep;
  }

  #number(place: number): number {
    return this.#numbers[this.#at + place] ?? Number.NaN;
  }

  #text(place: number): string | null {
    return this.#columns.texts[this.row * TEXTS + place] ?? null;
  }

  #setText(place: number, text: string | null): void {
    this.#columns.texts[this.row * TEXTS + place] = text;
  }
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
