import type { HeldKey } from './held-keys.js';
import type { KeySight, ServerMoment } from './key-look.js';
import type { KeyFacts } from './step.js';

/** A held key and what Redis says of it. */
export interface HeldSight {
  readonly held: HeldKey;
  readonly sight:
    | ({ readonly state: 'there'; readonly seen: KeyFacts } & ServerMoment)
    | ({ readonly state: 'gone' } & ServerMoment)
    | { readonly state: 'elsewhere' };
}

/**
 * What a look saw of many keys, in flat arrays: as objects the sights of 100,000 keys took 30 MB while a look was
 * under way. The objects are made while they are walked over.
 */
export class HeldSights implements Iterable<HeldSight> {
  readonly #held: HeldKey[] = [];
  readonly #states: KeySight['state'][] = [];
  readonly #serverUs: number[] = [];
  readonly #serverIds: (string | null)[] = [];
  /** NaN: without expiry. */
  readonly #leftMs: number[] = [];
  readonly #types: (string | null)[] = [];
  readonly #owners: (string | null)[] = [];

  add(held: HeldKey, sight: KeySight): void {
    const seen = sight.state === 'there' ? sight.seen : NOTHING;
    const moment = sight.state === 'elsewhere' ? NEVER : sight;
    this.#held.push(held);
    this.#states.push(sight.state);
    this.#serverUs.push(moment.serverUs);
    this.#serverIds.push(moment.serverId);
    this.#leftMs.push(seen.leftMs ?? Number.NaN);
    this.#types.push(seen.type);
    this.#owners.push(seen.owner);
  }

  *[Symbol.iterator](): IterableIterator<HeldSight> {
    for (const [at, held] of this.#held.entries()) yield { held, sight: this.#sightAt(at) };
  }

  #sightAt(at: number): HeldSight['sight'] {
    const state = this.#states[at] ?? 'elsewhere';
    if (state === 'elsewhere') return { state };
    const moment = { serverUs: this.#serverUs[at] ?? 0, serverId: this.#serverIds[at] ?? null };
    if (state === 'gone') return { state, ...moment };
    const leftMs = this.#leftMs[at] ?? Number.NaN;
    const seen = {
      leftMs: Number.isNaN(leftMs) ? null : leftMs,
      type: this.#types[at] ?? null,
      owner: this.#owners[at] ?? null,
    };
    return { state, seen, ...moment };
  }
}

const NOTHING: KeyFacts = Object.freeze({ leftMs: null, type: null, owner: null });
const NEVER: ServerMoment = Object.freeze({ serverUs: 0, serverId: null });
