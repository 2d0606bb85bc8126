import type { ResourceClassifier } from '../../contract/resource.js';
import { type Sighting, type SightingTime, sightAgain } from './sighting.js';
import type { StepKey } from './step.js';

/**
 * What is known of the lock keys, sweep after sweep. One round through the keyspace may take several sweeps; a
 * key stays known until a whole round has passed without it, or its expiry.
 */
export class KeyspaceView {
  readonly #classify: ResourceClassifier;
  readonly #sightings = new Map<string, Sighting>();
  #sweep = 0;
  #roundBegan = 1;

  constructor(classify: ResourceClassifier) {
    this.#classify = classify;
  }

  get size(): number {
    return this.#sightings.size;
  }

  /** Begins a sweep; `fresh` when it starts at the beginning of the keyspace. */
  begin(fresh: boolean): void {
    this.#sweep += 1;
    if (fresh) this.#roundBegan = this.#sweep;
  }

  /** Takes a key. Returns false when this sweep has seen it already: SCAN may return a key twice. */
  see(seen: StepKey, time: Omit<SightingTime, 'sweep'>): boolean {
    const keyBytes = seen.key.toString('latin1');
    const before = this.#sightings.get(keyBytes);
    const first = before?.sweep !== this.#sweep;
    const now = { ...time, sweep: this.#sweep };
    this.#sightings.set(keyBytes, sightAgain(before, seen, keyBytes, now, this.#classify));
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

  clear(): void {
    this.#sightings.clear();
  }
}
