import { ByteTable } from './byte-table.js';
import { DigestColumn } from './digest-column.js';
import type { KeyspacePart } from './keyspace-view.js';
import { SharedTexts } from './shared-texts.js';
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
const TYPE = 0;
const RESOURCE = 1;
const TEXTS = 2;

/**
 * Sightings by key, in a few large arrays: as an object of its own a sighting took 766 bytes, here it takes some 130.
 * The room of a row that was removed is used again; the arrays keep the room of the busiest time.
 */
export class SightingTable {
  readonly #keys: ByteTable;
  readonly #columns: Columns;
  /** Moved to whatever row is found: an object for each key of each sweep would be most of its garbage. */
  readonly #found: SightingRow;

  /** @param seed of the table of keys; whoever writes keys must not know it */
  constructor(seed: number) {
    this.#keys = new ByteTable(seed);
    this.#columns = new Columns(this.#keys);
    this.#found = new SightingRow(this.#columns);
  }

  get size(): number {
    return this.#keys.size;
  }

  /** The row of a key; undefined when there is none. Good until the next call of `find` or `add`. */
  find(bytes: Buffer, start: number, end: number): SightingRow | undefined {
    const row = this.#keys.find(bytes, start, end);
    return row < 0 ? undefined : this.#found.moveTo(row);
  }

  /** A new row, all of which is to be filled in. Good until the next call of `find` or `add`. */
  add(bytes: Buffer, start: number, end: number): SightingRow {
    const row = this.#keys.add(bytes, start, end);
    this.#columns.grow(row + 1);
    return this.#found.moveTo(row);
  }

  remove(sighting: SightingRow): void {
    this.#keys.remove(sighting.row);
    sighting.clear();
  }

  /** All rows, one after the other in one and the same object. What is added while this runs may be left out. */
  *values(): IterableIterator<SightingRow> {
    const sighting = new SightingRow(this.#columns);
    for (let row = 0; row < this.#keys.rows; row += 1) {
      if (this.#keys.has(row)) yield sighting.moveTo(row);
    }
  }
}

/** What some rows keep besides key and owner. */
interface Block {
  readonly numbers: Float64Array;
  readonly texts: (string | null)[];
  readonly parts: (KeyspacePart | undefined)[];
}

function makeBlock(): Block {
  return {
    numbers: new Float64Array(ROWS_PER_BLOCK * NUMBERS),
    texts: new Array<string | null>(ROWS_PER_BLOCK * TEXTS).fill(null),
    parts: new Array<KeyspacePart | undefined>(ROWS_PER_BLOCK).fill(undefined),
  };
}

/** What all rows keep. In blocks, so that growing copies nothing. */
class Columns {
  readonly keys: ByteTable;
  readonly owners = new DigestColumn();
  readonly texts = new SharedTexts();
  readonly #blocks: Block[] = [];

  constructor(keys: ByteTable) {
    this.keys = keys;
  }

  blockOf(row: number): Block {
    const block = this.#blocks[Math.floor(row / ROWS_PER_BLOCK)];
    if (block === undefined) throw new Error(`There is no row ${row}`);
    return block;
  }

  /** Makes room for so many rows. */
  grow(rows: number): void {
    while (rows > this.#blocks.length * ROWS_PER_BLOCK) this.#blocks.push(makeBlock());
  }
}

/** Of a row that points nowhere yet. */
const NO_BLOCK: Block = { numbers: new Float64Array(0), texts: [], parts: [] };

/** A row of the table, read and written in place. Not to be kept: its row may become another key's. */
export class SightingRow implements OwnSighting {
  row = -1;
  readonly #columns: Columns;
  #block = NO_BLOCK;
  /** Its number in the block. */
  #index = 0;

  constructor(columns: Columns) {
    this.#columns = columns;
  }

  moveTo(row: number): this {
    this.row = row;
    this.#block = this.#columns.blockOf(row);
    this.#index = row % ROWS_PER_BLOCK;
    return this;
  }

  clear(): void {
    this.#setText(TYPE, null);
    this.#setText(RESOURCE, null);
    this.#block.parts[this.#index] = undefined;
  }

  get keyBytes(): string {
    return this.#columns.keys.text(this.row, 'latin1');
  }

  get resource(): string {
    return this.#text(RESOURCE) ?? '';
  }

  set resource(resource: string) {
    this.#setText(RESOURCE, this.#columns.texts.share(resource));
  }

  get type(): string | null {
    return this.#text(TYPE);
  }

  set type(type: string | null) {
    if (type !== this.#text(TYPE))
      this.#setText(TYPE, type === null ? null : this.#columns.texts.share(type));
  }

  get owner(): string | null {
    return this.#columns.owners.get(this.row);
  }

  set owner(owner: string | null) {
    this.#columns.owners.set(this.row, owner);
  }

  isOwnedBy(owner: string | null): boolean {
    return this.#columns.owners.is(this.row, owner);
  }

  /** The part of the keyspace that it was last seen in. */
  get part(): KeyspacePart {
    const part = this.#block.parts[this.#index];
    if (part === undefined) throw new Error('A sighting was kept beyond its removal');
    return part;
  }

  set part(part: KeyspacePart) {
    this.#block.parts[this.#index] = part;
  }

  get expiresMonoMs(): number | null {
    return orNull(this.#number(EXPIRES_MONO_MS));
  }

  set expiresMonoMs(ms: number | null) {
    this.#setNumber(EXPIRES_MONO_MS, ms ?? Number.NaN);
  }

  get expiresUs(): number | null {
    return orNull(this.#number(EXPIRES_US));
  }

  set expiresUs(us: number | null) {
    this.#setNumber(EXPIRES_US, us ?? Number.NaN);
  }

  get longestLeftMs(): number {
    return this.#number(LONGEST_LEFT_MS);
  }

  set longestLeftMs(ms: number) {
    this.#setNumber(LONGEST_LEFT_MS, ms);
  }

  get firstSeenMonoMs(): number {
    return this.#number(FIRST_SEEN_MONO_MS);
  }

  set firstSeenMonoMs(ms: number) {
    this.#setNumber(FIRST_SEEN_MONO_MS, ms);
  }

  get firstSeenUs(): number {
    return this.#number(FIRST_SEEN_US);
  }

  set firstSeenUs(us: number) {
    this.#setNumber(FIRST_SEEN_US, us);
  }

  get lastSeenUs(): number {
    return this.#number(LAST_SEEN_US);
  }

  set lastSeenUs(us: number) {
    this.#setNumber(LAST_SEEN_US, us);
  }

  get sweep(): number {
    return this.#number(SWEEP);
  }

  set sweep(sweep: number) {
    this.#setNumber(SWEEP, sweep);
  }

  #number(place: number): number {
    return this.#block.numbers[this.#index * NUMBERS + place] ?? Number.NaN;
  }

  #setNumber(place: number, value: number): void {
    this.#block.numbers[this.#index * NUMBERS + place] = value;
  }

  #text(place: number): string | null {
    return this.#block.texts[this.#index * TEXTS + place] ?? null;
  }

  #setText(place: number, text: string | null): void {
    this.#block.texts[this.#index * TEXTS + place] = text;
  }
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
