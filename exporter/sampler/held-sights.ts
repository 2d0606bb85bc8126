import { DigestColumn } from './digest-column.js';
import type { HeldKeys } from './held-keys.js';
import type { KeySight, KeysSeen, ServerMoment } from './key-look.js';
import { RowList } from './row-list.js';
import { RowNumbers } from './row-numbers.js';
import type { KeyFacts } from './step.js';

/** A held key and what Redis says of it. */
export interface HeldSight extends KeySight {
  /** Number of the key in the stock of {@link HeldKeys}. */
  readonly row: number;
  readonly moment: ServerMoment;
}

/** The states by their numbers. */
const STATES: readonly KeySight['state'][] = ['elsewhere', 'gone', 'there'];
const STRING = 'string';
const ROWS_PER_BLOCK = 1024;

/**
 * The keys that a look asks one server for, and what it saw of them. In flat arrays whose room the next look uses
 * again: as objects the sights of 100,000 keys took 30 MB while a look was under way.
 */
export class HeldSights implements Iterable<HeldSight> {
  readonly #rows = new RowList();
  readonly #states = new RowNumbers();
  /** NaN: without expiry. */
  readonly #leftMs: Float64Array[] = [];
  readonly #owners = new DigestColumn();
  /** Of the few that are no strings. */
  readonly #types = new Map<number, string | null>();
  /** Each with the first key that was looked at then. */
  #moments: { readonly from: number; readonly moment: ServerMoment }[] = [];
  #seen = 0;

  /** How many keys are to be asked for. */
  get length(): number {
    return this.#rows.length;
  }

  /** Begins anew, without any key. */
  clear(): void {
    this.#rows.clear();
    this.forget();
  }

  /** Forgets what was seen. */
  forget(): void {
    this.#types.clear();
    this.#moments = [];
    this.#seen = 0;
  }

  /** One more key to ask for. */
  ask(row: number): void {
    this.#rows.push(row);
  }

  /** Some of the keys to ask for. */
  rows(from: number, end: number): number[] {
    const count = Math.max(0, Math.min(end, this.length) - from);
    return Array.from({ length: count }, (_, at) => this.#rows.at(from + at));
  }

  /** Takes in a look at the next keys. */
  add({ moment, sights }: KeysSeen): void {
    const from = this.#seen;
    this.#moments.push({ from, moment });
    sights.forEach(({ state, seen }, index) => {
      const at = from + index;
      this.#seen = at + 1;
      this.#states.set(at, 0, STATES.indexOf(state));
      if (state === 'there') this.#take(at, seen);
    });
  }

  /** What was seen so far. */
  *[Symbol.iterator](): IterableIterator<HeldSight> {
    for (const [index, { from, moment }] of this.#moments.entries()) {
      const end = this.#moments[index + 1]?.from ?? this.#seen;
      for (let at = from; at < end; at += 1) yield this.#sightAt(at, moment);
    }
  }

  #take(at: number, { leftMs, type, owner }: KeyFacts): void {
    const index = Math.floor(at / ROWS_PER_BLOCK);
    this.#leftMs[index] ??= new Float64Array(ROWS_PER_BLOCK);
    this.#leftMs[index][at % ROWS_PER_BLOCK] = leftMs ?? Number.NaN;
    this.#owners.set(at, owner);
    if (type !== STRING) this.#types.set(at, type);
  }

  #sightAt(at: number, moment: ServerMoment): HeldSight {
    const state = STATES[this.#states.get(at)] ?? 'elsewhere';
    return { row: this.#rows.at(at), state, seen: this.#factsAt(at), moment };
  }

  #factsAt(at: number): KeyFacts {
    const leftMs = this.#leftMs[Math.floor(at / ROWS_PER_BLOCK)]?.[at % ROWS_PER_BLOCK] ?? Number.NaN;
    const type = this.#types.get(at);
    return {
      leftMs: Number.isNaN(leftMs) ? null : leftMs,
      type: type === undefined ? STRING : type,
      owner: this.#owners.get(at),
    };
  }
}
