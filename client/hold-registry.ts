import type { Hold as HoldReport } from '../contract/batch.js';
import type { Hold } from './hold.js';
import type { ServerEpoch } from './server-epochs.js';

/** The holds of one client, for heartbeats. A hold stays until its ending was reported, also while it is lost. */
export class HoldRegistry {
  readonly #holds = new Set<Hold>();
  /** How many holds have which lease: few leases, many holds. */
  readonly #leases = new Map<number, number>();
  readonly #onChange: () => void;
  #shortestMs: number | undefined;

  /** @param onChange called when the number of holds changes from or to zero, and when the shortest lease changes */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#holds.size;
  }

  get shortestLeaseMs(): number | undefined {
    return this.#shortestMs;
  }

  add(hold: Hold): void {
    this.#holds.add(hold);
    this.#countLease(hold.term.leaseMs, 1);
  }

  delete(hold: Hold): void {
    if (this.#holds.delete(hold)) this.#countLease(hold.term.leaseMs, -1);
  }

  /** To be called when the lease of a registered hold became another. */
  leaseChanged(hold: Hold, fromMs: number): void {
    if (!this.#holds.has(hold) || fromMs === hold.term.leaseMs) return;
    this.#countLease(hold.term.leaseMs, 1);
    this.#countLease(fromMs, -1);
  }

  /** A copy: holds may end while it is read. */
  list(): Hold[] {
    return [...this.#holds];
  }

  /** The full set, as heartbeats report it. */
  *reports(current: ServerEpoch, nowMs: number): Iterable<HoldReport> {
    for (const hold of this.#holds) yield hold.report(current, nowMs);
  }

  #countLease(leaseMs: number, change: number): void {
    const count = (this.#leases.get(leaseMs) ?? 0) + change;
    if (count > 0) this.#leases.set(leaseMs, count);
    else this.#leases.delete(leaseMs);
    if (change > 0 ? leaseMs < (this.#shortestMs ?? Number.POSITIVE_INFINITY) : count === 0)
      this.#findShortest();
  }

  #findShortest(): void {
    let shortestMs: number | undefined;
    for (const leaseMs of this.#leases.keys()) {
      if (shortestMs === undefined || leaseMs < shortestMs) shortestMs = leaseMs;
    }
    if (shortestMs === this.#shortestMs) return;
    this.#shortestMs = shortestMs;
    this.#onChange();
  }
}
