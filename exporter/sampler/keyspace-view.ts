import type { ResourceClassifier } from '../../contract/resource.js';
import { type OwnSighting, type Sighting, type SightingTime, sightAgain, sightFirst } from './sighting.js';
import type { StepKey } from './step.js';

/**
 * What is known of the lock keys, sweep after sweep. One round through the keyspace may take several sweeps; a
 * key stays known until a whole round has passed without it, or its expiry.
 */
export class KeyspaceView {
  readonly #classify: ResourceClassifier;
  readonly #sightings = new Map<string, OwnSighting>();
  #sweep = 0;
  #roundBegan = 1;

  constructor(classify: ResourceClassifier) {
    this.#classify = classify;
  }

  /** Begins a sweep; `fresh` when it starts at the beginning of the keyspace. */
  begin(fresh: boolean): void {
    this.#sweep += 1;
    if (fresh) this.#roundBegan = this.#sweep;
  }

  /** Takes a key. Returns false when this sweep has seen it already: SCAN may return a key twice. */
  see(keyBytes: string, seen: StepKey, { monoMs, serverUs }: Omit<SightingTime, 'sweep'>): boolean {
    const time = { monoMs, serverUs, sweep: this.#sweep };
    const known = this.#sightings.get(keyBytes);
    if (known === undefined) {
      this.#sightings.set(keyBytes, sightFirst(keyBytes, seen, time, this.#classify));
      return true;
    }
    const first = known.sweep !== this.#sweep;
    sightAgain(known, seen, time);
    return first;
  }

  /**
   * Ends a sweep: forgets what is not there any more. With the round at its end that is every key the round did
   * not see; before, only keys beyond their expiry, and older sightings when there are more than `maxKeys`.
   */
  end(roundDone: boolean, nowMs: number, maxKeys: number): void {
    for (const [key, { sweep, expiresMonoMs }] of this.#sightings) {
      const unseen = sweep < this.#sweep;
      const gone = sweep < this.#roundBegan && roundDone;
      const expired = expiresMonoMs !== null && expiresMonoMs <= nowMs;
      if (gone || (unseen && (expired || this.#sightings.size > maxKeys))) this.#sightings.delete(key);
    }
  }

  values(): IterableIterator<Sighting> {
    return this.#sightings.values();
  }
}
