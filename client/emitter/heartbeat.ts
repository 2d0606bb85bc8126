import { BEATS_PER_LEASE, MIN_HEARTBEAT_MS } from '../../contract/batch.js';
import type { Clock, Timer } from '../../contract/clock.js';
import type { EmitterSource } from './emitter.js';

/**
 * Longest time between two heartbeats. The contract would let long leases be quiet for longer, but that a holder still
 * believes in a lock which Redis has lost is only known by its next heartbeat: no later than the next look at held keys.
 */
export const MAX_HEARTBEAT_MS = 5000;

/** Time between two batches while leases of `shortestLeaseMs` and longer are held. */
export function heartbeatMs(shortestLeaseMs: number | undefined): number {
  const fifthMs = (shortestLeaseMs ?? 0) / BEATS_PER_LEASE;
  return Math.min(MAX_HEARTBEAT_MS, Math.max(MIN_HEARTBEAT_MS, fifthMs));
}

/**
 * Calls `beat` when locks are held and no batch was sent for a heartbeat's time. Not called while nothing is
 * held: the timer runs out once more and is not set again.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #source: EmitterSource;
  readonly #beat: () => void;
  #timer: Timer | undefined;
  #intervalMs = 0;
  #lastSentMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, source: EmitterSource, beat: () => void) {
    this.#clock = clock;
    this.#source = source;
    this.#beat = beat;
  }

  /** Cheap, since it is called with every grant and every ending: a running timer at the shortest time stays. */
  holdsChanged(): void {
    if (this.#timer !== undefined && this.#intervalMs <= MIN_HEARTBEAT_MS) return;
    if (this.#source.holdCount() === 0) return;
    const intervalMs = heartbeatMs(this.#source.shortestLeaseMs());
    if (this.#timer !== undefined && intervalMs >= this.#intervalMs) return;
    this.#arm(intervalMs, intervalMs);
  }

  /** A batch was sent just now; it counts as a heartbeat. */
  sent(): void {
    this.#lastSentMs = this.#clock.monoMs();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(intervalMs: number, delayMs: number): void {
    this.#timer?.cancel();
    this.#intervalMs = intervalMs;
    this.#timer = this.#clock.setTimer(() => this.#ring(), delayMs);
  }

  #ring(): void {
    this.#timer = undefined;
    if (this.#source.holdCount() === 0) return;
    const intervalMs = heartbeatMs(this.#source.shortestLeaseMs());
    const leftMs = this.#lastSentMs + intervalMs - this.#clock.monoMs();
    this.#arm(intervalMs, leftMs > 0 ? leftMs : intervalMs);
    if (leftMs <= 0) this.#beat();
  }
}
