import type { LockHistory } from './lock-history.js';
import type { Producer } from './producers.js';

/** Rows in a block, of half a megabyte: to grow copies nothing. */
export const BLOCK_BITS = 12;
export const ROWS_PER_BLOCK = 1 << BLOCK_BITS;
/** The bits of a row's number that are its index in its block. */
export const INDEX_MASK = ROWS_PER_BLOCK - 1;

/** Places of a row's numbers. `NaN`: not known. */
export const NUMBER = {
  grantUs: 0,
  fence: 1,
  leaseEndUs: 2,
  leaseEndMs: 3,
  knownMs: 4,
  leaseMs: 5,
  order: 6,
} as const;
const NUMBERS = Object.keys(NUMBER).length;

/** Places of the numbers that only a row has whose hold was lost, or given back. */
export const LATE_NUMBER = { workedUntilUs: 0, releasedUs: 1, loopDelayMs: 2 } as const;
const LATE_NUMBERS = Object.keys(LATE_NUMBER).length;

/** Places of a row's whole numbers: the words of two digests, links to other rows, and what may be true of it. */
export const INTEGER = {
  lockHigh: 0,
  lockLow: 1,
  ownerHigh: 2,
  ownerLow: 3,
  next: 4,
  previous: 5,
  older: 6,
  younger: 7,
  state: 8,
  place: 9,
  marks: 10,
} as const;
const INTEGERS = Object.keys(INTEGER).length;

/** Places of a row's texts, each shared by many rows. */
export const TEXT = { resource: 0, serverId: 1 } as const;
const TEXTS = Object.keys(TEXT).length;

/** Stands in the place of a link. */
export const NO_ROW = -1;

/** Some rows, each kind of value in an array. A row's place in one is its index times the number of such values. */
export class HoldBlock {
  readonly numbers = new Float64Array(ROWS_PER_BLOCK * NUMBERS);
  /** These three are not there before they are written to: a hundred thousand locks that are held take 4 MB less. */
  #lateNumbers: Float64Array | undefined = undefined;
  #workedServers: (string | undefined)[] | undefined = undefined;
  #histories: (LockHistory | undefined)[] | undefined = undefined;
  readonly integers = new Int32Array(ROWS_PER_BLOCK * INTEGERS);
  readonly texts: (string | undefined)[] = new Array(ROWS_PER_BLOCK * TEXTS).fill(undefined);
  readonly producers: (Producer | undefined)[] = new Array(ROWS_PER_BLOCK).fill(undefined);

  /** Makes a row one of which nothing is known. */
  clear(index: number): void {
    const { numbers, integers, texts } = this;
    // Loops, since `fill` takes ten times as long for so few.
    for (let at = index * NUMBERS; at < (index + 1) * NUMBERS; at += 1) numbers[at] = Number.NaN;
    for (let at = index * INTEGERS; at < (index + 1) * INTEGERS; at += 1) integers[at] = 0;
    for (let link = INTEGER.next; link <= INTEGER.younger; link += 1)
      integers[index * INTEGERS + link] = NO_ROW;
    for (let at = index * TEXTS; at < (index + 1) * TEXTS; at += 1) texts[at] = undefined;
    const late = this.#lateNumbers;
    if (late)
      for (let at = index * LATE_NUMBERS; at < (index + 1) * LATE_NUMBERS; at += 1) late[at] = Number.NaN;
    this.producers[index] = undefined;
    if (this.#workedServers) this.#workedServers[index] = undefined;
    if (this.#histories) this.#histories[index] = undefined;
  }

  workedServer(index: number): string | undefined {
    return this.#workedServers?.[index];
  }

  setWorkedServer(index: number, serverId: string): void {
    this.#workedServers ??= new Array(ROWS_PER_BLOCK).fill(undefined);
    this.#workedServers[index] = serverId;
  }

  history(index: number): LockHistory | undefined {
    return this.#histories?.[index];
  }

  setHistory(index: number, history: LockHistory | undefined): void {
    if (history === undefined && this.#histories === undefined) return;
    this.#histories ??= new Array(ROWS_PER_BLOCK).fill(undefined);
    this.#histories[index] = history;
  }

  late(index: number, place: number): number | undefined {
    return this.#lateNumbers?.[index * LATE_NUMBERS + place];
  }

  setLate(index: number, place: number, value: number): void {
    this.#lateNumbers ??= new Float64Array(ROWS_PER_BLOCK * LATE_NUMBERS).fill(Number.NaN);
    this.#lateNumbers[index * LATE_NUMBERS + place] = value;
  }

  /** Where the numbers of a row begin. */
  static numbersAt(index: number): number {
    return index * NUMBERS;
  }

  static integersAt(index: number): number {
    return index * INTEGERS;
  }

  static textsAt(index: number): number {
    return index * TEXTS;
  }
}
