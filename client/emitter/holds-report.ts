import { MAX_BATCH_HOLDS, MAX_BODY_BYTES } from '../../contract/batch.js';
import type { Clock } from '../../contract/clock.js';
import type { EmitterSource, EventServer } from './emitter.js';

/**
 * Most bytes of holds in one batch: half a body. Even when each hold carries the longest key, the other half
 * is left to events.
 */
export const MAX_HOLDS_BYTES = MAX_BODY_BYTES / 2;

/**
 * Time between two sets that take several batches. Events wait behind the parts of a set; if every drop brought
 * a big set, sets would cause the next drop.
 */
const BIG_SET_PAUSE_MS = 1000;

/** A piece of the full set of holds, ready to stand in a batch. */
export interface HoldsPart {
  /** A JSON array. */
  readonly json: string;
  readonly bytes: number;
  /** It opens a set: what was emitted before the set was read may travel with it. */
  readonly first: boolean;
  /** Nothing of its set is left. */
  readonly last: boolean;
  /** The server that was current when the set was read: holds that name none mean this one. */
  readonly server: EventServer;
}

/**
 * Knows when the exporter needs the full set of holds: in the first batch, after a drop, and when an answer
 * comes from another run of the exporter than the one that has the set.
 *
 * A set that was begun is always sent to its end, so that each set closes with a part without `holdsMore`.
 */
export class HoldsReport {
  readonly #source: EmitterSource;
  readonly #clock: Clock;
  #stale = true;
  #dropTotal = 0;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #parts: HoldsPart[] = [];
  #epoch: string | undefined;
  #alone = false;

  constructor(source: EmitterSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** A set was begun and is not sent to its end yet. */
  get unfinished(): boolean {
    return this.#parts.length > 0;
  }

  /** A batch with holds was refused: until one passes, holds travel without events, so that they cost none. */
  get alone(): boolean {
    return this.#alone;
  }

  /** What the exporter knows may be wrong; the next batch carries the full set. */
  invalidate(): void {
    this.#stale = true;
  }

  /**
   * The part that the next batch is to carry, if any. Reads all holds at once when it begins a set.
   * @param dropTotal events dropped so far: more than at the last set means that the exporter missed something
   */
  take(dropTotal: number): HoldsPart | undefined {
    if (this.#parts.length === 0 && this.#isDue(dropTotal)) {
      this.#parts = splitHolds(this.#source);
      this.#stale = false;
      this.#dropTotal = dropTotal;
      const pauseMs = this.#parts.length > 1 ? BIG_SET_PAUSE_MS : 0;
      this.#notBeforeMs = this.#clock.monoMs() + pauseMs;
    }
    return this.#parts.shift();
  }

  #isDue(dropTotal: number): boolean {
    if (!this.#stale && dropTotal === this.#dropTotal) return false;
    return this.#clock.monoMs() >= this.#notBeforeMs;
  }

  /** A batch was answered. @returns true when the answer came from a new run of the exporter that lacks the set */
  answered(part: HoldsPart | undefined, epoch: string): boolean {
    if (part) this.#alone = false;
    if (epoch === this.#epoch) return false;
    this.#epoch = epoch;
    // The new run has this set from its beginning on, or it has nothing.
    if (part?.first) return false;
    this.invalidate();
    return true;
  }

  /** A batch was refused as a whole. */
  refused(part: HoldsPart | undefined): void {
    if (part) this.#alone = true;
  }
}

function splitHolds(source: EmitterSource): HoldsPart[] {
  const server = source.server();
  const parts: { json: string[]; bytes: number }[] = [{ json: [], bytes: 2 }];
  for (const hold of source.holds()) {
    const json = JSON.stringify(hold);
    const bytes = Buffer.byteLength(json) + 1;
    let part = parts.at(-1);
    if (!part || part.json.length >= MAX_BATCH_HOLDS || part.bytes + bytes > MAX_HOLDS_BYTES) {
      part = { json: [], bytes: 2 };
      parts.push(part);
    }
    part.json.push(json);
    part.bytes += bytes;
  }
  return parts.map(({ json, bytes }, at) => ({
    json: `[${json.join(',')}]`,
    bytes,
    first: at === 0,
    last: at === parts.length - 1,
    server,
  }));
}
