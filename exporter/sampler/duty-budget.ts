/**
 * Keeps the sampler's share of the server's time: after a sweep that cost the server `c`, the next may start no
 * sooner than `c / share` after its start.
 */
export class DutyBudget {
  readonly #share: number;
  #freeAtMs = Number.NEGATIVE_INFINITY;

  /** @param share above 0, at most 1 */
  constructor(share: number) {
    this.#share = share;
  }

  /** Ms from now until the budget is free again; 0 when it is. Monotonic time. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#freeAtMs - nowMs);
  }

  /** Books what a sweep cost, also a failed one. */
  spend(startedMs: number, costUs: number): void {
    this.#freeAtMs = startedMs + costUs / 1000 / this.#share;
  }
}
