import { DigestColumn } from './digest-column.js';
import type { HeldKeys } from './held-keys.js';
import type { KeySight, KeysSeen, ServerMoment } from './key-look.js';
import type { KeyFacts } from './step.js';

/** A held key and what Redis says of it. One and the same object for all that a look saw: not to be kept. */
export interface HeldSight extends KeySight {
  /** Number of the key in the stock of {@link HeldKeys}. */
  readonly row: number;
  readonly moment: ServerMoment;
}

/** The states by their numbers. */
const STATES: readonly KeySight['state'][] = ['elsewhere', 'gone', 'there'];
const STRING = 'string';

/**
 * What a look saw of many keys, in flat arrays: as objects the sights of 100,000 keys took 30 MB while a look was
 * under way.
 */
export class HeldSights implements Iterable<HeldSight> {
  readonly #rows: readonly number[];
  readonly #states: Uint8Array;
  /** NaN: without expiry. */
  readonly #leftMs: Float64Array;
  readonly #owners = new DigestColumn();
  /** Of the few that are no strings. */
  readonly #types = new Map<number, string | null>();
  /** Each with the first key that was looked at then. */
  readonly #moments: { readonly from: number; readonly moment: ServerMoment }[] = [];
  #length = 0;

  /** @param rows of the stock, in the order in which they will be looked at */
  constructor(rows: readonly number[]) {
    this.#rows = rows;
    this.#states = new Uint8Array(rows.length);
    this.#leftMs = new Float64Array(rows.length);
  }

  /** Takes in a look at the next keys. */
  add({ moment, sights }: KeysSeen): void {
    const from = this.#length;
    this.#moments.push({ from, moment });
    sights.forEach(({ state, seen }, index) => {
      const at = from + index;
      this.#length = at + 1;
      this.#states[at] = STATES.indexOf(state);
      if (state === 'there') this.#take(at, seen);
    });
  }

  *[Symbol.iterator](): IterableIterator<HeldSight> {
    for (const [index, { from, moment }] of this.#moments.entries()) {
      const end = this.#moments[index + 1]?.from ?? this.#length;
      for (let at = from; at < end; at += 1) yield this.#sightAt(at, moment);
    }
  }

  #take(at: number, { leftMs, type, owner }: KeyFacts): void {
    this.#leftMs[at] = leftMs ?? Number.NaN;
    this.#owners.set(at, owner);
    if (type !== STRING) this.#types.set(at, type);
  }

  #sightAt(at: number, moment: ServerMoment): HeldSight {
    const leftMs = this.#leftMs[at] ?? Number.NaN;
    const type = this.#types.get(at);
    const seen = {
      leftMs: Number.isNaN(leftMs) ? null : leftMs,
      type: type === undefined ? STRING : type,
      owner: this.#owners.get(at),
    };
    const state = STATES[this.#states[at] ?? 0] ?? 'elsewhere';
    return { row: this.#rows[at] ?? -1, state, seen, moment };
  }
}
