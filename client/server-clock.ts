import type { ServerEpoch } from './server-epochs.js';

const US_PER_MS = 1000;

/** What one answer tells of Redis's clock. */
export interface ServerTime {
  /** Redis's clock when it answered. */
  readonly serverUs: number;
  /** Monotonic time here when the answer had come. */
  readonly receivedMs: number;
  readonly epoch: ServerEpoch;
}

/**
 * What is known of Redis's clock from the answers about one hold. An answer with clock `u` that came at `r` was
 * written at or before `r`, so at any time `w` here Redis's clock shows at least `u + (w - r)`, for `w` before and
 * after `r` alike. The best bound is the largest, so one number is kept. Answers of different servers are never mixed.
 */
export class ServerClock {
  #epoch: ServerEpoch | undefined;
  #offsetUs = Number.NEGATIVE_INFINITY;

  add(time: ServerTime): void {
    const offsetUs = time.serverUs - time.receivedMs * US_PER_MS;
    const isSame = this.#epoch?.isSameServer(time.epoch) === true;
    this.#offsetUs = isSame ? Math.max(this.#offsetUs, offsetUs) : offsetUs;
    this.#epoch = time.epoch;
  }

  /** The server that the bound is of: the one that answered last. */
  get epoch(): ServerEpoch | undefined {
    return this.#epoch;
  }

  /** Lower bound of Redis's clock at a monotonic time, in whole µs. */
  lowerBoundUs(atMs: number): number | undefined {
    if (this.#epoch === undefined) return undefined;
    const boundUs = Math.floor(this.#offsetUs + atMs * US_PER_MS);
    return Number.isSafeInteger(boundUs) && boundUs >= 0 ? boundUs : undefined;
  }
}
