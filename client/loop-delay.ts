import type { Clock, Timer } from '../contract/clock.js';

/** How often the event loop is looked at while something is held, in ms: also by how much a delay may be understated. */
export const LOOP_SAMPLE_MS = 20;
/** Delays kept at once; the smallest of them are merged beyond it. */
const MAX_PEAKS = 64;

interface Peak {
  readonly atMs: number;
  readonly delayMs: number;
}

/**
 * Worst delay of the event loop since any moment, for all holds together. One timer, and only while something is
 * held; a wake-up that comes late tells by how much the loop stood still, be it by a busy callback, by SIGSTOP or by
 * a machine that slept. Understates a delay by at most `LOOP_SAMPLE_MS`.
 *
 * Peaks are kept as a falling staircase: a later, larger one swallows the earlier, smaller ones, so that the first
 * peak at or after a moment is the worst since then.
 */
export class LoopDelay {
  readonly #clock: Clock;
  readonly #isNeeded: () => boolean;
  #peaks: Peak[] = [];
  #dueMs = 0;
  #timer: Timer | undefined;

  /** @param isNeeded asked at each wake-up; false ends the watch until `start()` */
  constructor(clock: Clock, isNeeded: () => boolean) {
    this.#clock = clock;
    this.#isNeeded = isNeeded;
  }

  /** Begins to watch. Cheap when it already does. */
  start(nowMs: number): void {
    if (this.#timer === undefined) this.#arm(nowMs);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#peaks = [];
  }

  /** Worst delay since `sinceMs`, in ms; a stall that ends right now counts, though no timer has fired yet. */
  worstSince(sinceMs: number, nowMs: number): number {
    const running = this.#timer === undefined ? 0 : Math.max(0, nowMs - this.#dueMs);
    const peak = this.#peaks.find((candidate) => candidate.atMs >= sinceMs)?.delayMs ?? 0;
    return Math.min(Math.max(running, peak), Math.max(0, nowMs - sinceMs));
  }

  #arm(nowMs: number): void {
    this.#dueMs = nowMs + LOOP_SAMPLE_MS;
    this.#timer = this.#clock.setTimer(this.#onTimer, LOOP_SAMPLE_MS);
  }

  readonly #onTimer = (): void => {
    const nowMs = this.#clock.monoMs();
    this.#add({ atMs: nowMs, delayMs: Math.max(0, nowMs - this.#dueMs) });
    if (this.#isNeeded()) this.#arm(nowMs);
    else this.stop();
  };

  #add(peak: Peak): void {
    let last = this.#peaks.at(-1);
    while (last !== undefined && last.delayMs <= peak.delayMs) {
      this.#peaks.pop();
      last = this.#peaks.at(-1);
    }
    this.#peaks.push(peak);
    // Dropping the second last keeps the worst exact and answers about short spans too low by the least.
    if (this.#peaks.length > MAX_PEAKS) this.#peaks.splice(-2, 1);
  }
}
