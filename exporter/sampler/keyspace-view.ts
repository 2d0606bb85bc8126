import { ChangeCounts, type ObservedChanges } from './observed-changes.js';
import { endingOf, type Sighting, type SightingTime, sightAgain, sightFirst } from './sighting.js';
import { type SightingRow, SightingTable } from './sighting-table.js';
import type { KeyFacts, StepKey } from './step.js';

/** How the last sweep of a part of the keyspace ended. */
export interface PartEnd {
  /** `done`: its round is complete. `cut`: it goes on. `failed`: nothing is known of the part now. `left`: it is no part any more. */
  readonly kind: 'done' | 'cut' | 'failed' | 'left';
  /** Redis's clock at the end. */
  readonly serverUs: number;
  /**
   * Whether a key that is gone was deleted or expired there. Not so when the server was restarted, or failed to
   * answer, or handed slots to another.
   */
  readonly explained: boolean;
}

/** A part of the keyspace that is swept by itself: what one server has. */
export class KeyspacePart {
  /** Number of the present sweep, from 1. */
  sweep = 0;
  roundBegan = 1;
  /** What no sweep from this one on has seen is of other data, and not shown. */
  validFrom = 1;
  end: PartEnd = { kind: 'cut', serverUs: 0, explained: false };
}

/**
 * What is known of the lock keys, sweep after sweep. One round through a part of the keyspace may take several
 * sweeps; a key stays known until a whole round has passed without it, or its expiry. A key that moves to another
 * part is one key still.
 */
export class KeyspaceView {
  readonly #classify: (key: Buffer) => string;
  readonly #sightings: SightingTable;
  readonly #changes = new ChangeCounts();

  /**
   * @param classify names the resource of a key seen for the first time
   * @param seed of the table of keys; whoever writes keys must not know it
   */
  constructor(classify: (key: Buffer) => string, seed = 0) {
    this.#classify = classify;
    this.#sightings = new SightingTable(seed);
  }

  get size(): number {
    return this.#sightings.size;
  }

  /** Begins a sweep of a part; `fresh` when it starts at the part's beginning. */
  begin(part: KeyspacePart, fresh: boolean): void {
    part.sweep += 1;
    if (fresh) part.roundBegan = part.sweep;
  }

  /** Takes in that the part has other data than before: what was seen there is not known any more until it is seen again. */
  renew(part: KeyspacePart): void {
    part.validFrom = part.sweep + 1;
  }

  /** How many keys are known of a part. Walks over all. */
  countOf(part: KeyspacePart): number {
    let count = 0;
    for (const sighting of this.values()) if (sighting.part === part) count += 1;
    return count;
  }

  /** Takes a key. Returns false when this sweep has seen it already: SCAN may return a key twice. */
  see(part: KeyspacePart, seen: StepKey, time: SightingTime): boolean {
    const { bytes, start, end } = seen;
    const known = this.#sightings.find(bytes, start, end);
    if (known === undefined) {
      const resource = this.#classify(bytes.subarray(start, end));
      const first = this.#sightings.add(bytes, start, end);
      first.resource = resource;
      first.part = part;
      sightFirst(first, seen, time);
      first.sweep = part.sweep;
      return true;
    }
    const isFirst = known.part !== part || known.sweep !== part.sweep;
    this.#seeAgain(known, seen, time);
    known.part = part;
    known.sweep = part.sweep;
    return isFirst;
  }

  /** Takes a look at one key between two sweeps. A key that no sweep has seen stays unknown. */
  recheck(key: Buffer, resource: string, seen: KeyFacts, time: SightingTime): void {
    const known = this.#sightings.find(key, 0, key.length);
    if (known === undefined || time.serverUs < known.lastSeenUs) return;
    known.resource = resource;
    this.#seeAgain(known, seen, time);
  }

  /** Takes that a key was gone at `serverUs`. */
  recheckGone(key: Buffer, serverUs: number): void {
    const known = this.#sightings.find(key, 0, key.length);
    if (known === undefined || serverUs < known.lastSeenUs) return;
    this.#countEnding(known, serverUs);
    this.#sightings.remove(known);
  }

  /**
   * Ends the sweeps of all parts, each with its `end` set: forgets what is not there any more. With a round at its
   * end that is every key the round did not see; before, only keys beyond their expiry, and older sightings when
   * there are more than `maxKeys`.
   */
  endSweeps(nowMs: number, maxKeys: number): void {
    for (const sighting of this.#sightings.values()) {
      const { sweep, expiresMonoMs, part } = sighting;
      const unseen = sweep < part.sweep;
      const gone = sweep < part.roundBegan && part.end.kind === 'done';
      if (gone && part.end.explained) this.#countEnding(sighting, part.end.serverUs);
      const expired = expiresMonoMs !== null && expiresMonoMs <= nowMs;
      const inVain = unseen && (expired || this.#sightings.size > maxKeys);
      if (gone || inVain || part.end.kind === 'left') this.#sightings.remove(sighting);
    }
  }

  /**
   * All that are known, one after the other in one and the same object; not those of a part that could not be looked
   * at, or has other data now.
   */
  *values(): IterableIterator<Sighting & { readonly part: KeyspacePart }> {
    for (const sighting of this.#sightings.values()) {
      const { end, validFrom } = sighting.part;
      const isKnown = end.kind !== 'failed' && end.kind !== 'left';
      if (isKnown && sighting.sweep >= validFrom) yield sighting;
    }
  }

  /** What was seen to happen since the last call. */
  takeChanges(): ObservedChanges[] {
    return this.#changes.take();
  }

  #seeAgain(known: SightingRow, seen: KeyFacts, time: SightingTime): void {
    const change = sightAgain(known, seen, time);
    if (change !== undefined) this.#changes.add(known.resource, change);
  }

  #countEnding(sighting: Sighting, goneUs: number): void {
    const ending = endingOf(sighting, goneUs);
    if (ending !== undefined) this.#changes.add(sighting.resource, ending);
  }
}
