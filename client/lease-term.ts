/**
 * The times of one hold, on the monotonic clock: when its lease ends, how often it was extended, and how much of a
 * lease was used at most. Pure arithmetic; the hold acts on it.
 */
export class LeaseTerm {
  readonly #maxHoldEndMs: number;
  #leaseMs: number;
  #confirmedMs: number;
  #leaseEndMs: number;
  #renewals = 0;
  #peakUse = 0;

  /** @param sentMs when the granting command was sent: the lease counts from there, so it ends no later than Redis's */
  constructor(sentMs: number, leaseMs: number, maxHoldMs: number) {
    this.#leaseMs = leaseMs;
    this.#confirmedMs = sentMs;
    this.#leaseEndMs = sentMs + leaseMs;
    this.#maxHoldEndMs = sentMs + maxHoldMs;
  }

  /** The lease last asked for and confirmed. */
  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** Send time of the last confirmed grant or extension. */
  get confirmedMs(): number {
    return this.#confirmedMs;
  }

  /** End of the lease. */
  get leaseEndMs(): number {
    return this.#leaseEndMs;
  }

  /** End of the lease, or of the longest hold allowed, whichever is earlier. */
  get endMs(): number {
    return Math.min(this.#leaseEndMs, this.#maxHoldEndMs);
  }

  /** Whether the longest hold allowed ends no later than the lease. */
  get endsByMaxHold(): boolean {
    return this.#maxHoldEndMs <= this.#leaseEndMs;
  }

  /** Confirmed extensions. */
  get renewals(): number {
    return this.#renewals;
  }

  /** Largest share of a lease that was used before its extension was confirmed, or before the work settled. */
  get peakUse(): number {
    return this.#peakUse;
  }

  /** Redis confirmed at `receivedMs` an extension that was sent at `sentMs`. */
  extend(leaseMs: number, sentMs: number, receivedMs: number): void {
    this.#use(receivedMs);
    this.#renewals += 1;
    this.#leaseMs = leaseMs;
    this.#confirmedMs = sentMs;
    this.#leaseEndMs = sentMs + leaseMs;
  }

  /** Redis may end the lease at this time already. @returns whether that is earlier than known */
  mayEndAt(endMs: number): boolean {
    if (endMs >= this.#leaseEndMs) return false;
    this.#leaseEndMs = endMs;
    return true;
  }

  /** The work settled. */
  settle(nowMs: number): void {
    this.#use(nowMs);
  }

  #use(untilMs: number): void {
    this.#peakUse = Math.max(this.#peakUse, (untilMs - this.#confirmedMs) / this.#leaseMs);
  }
}
