import { type DeadlineItem, type DeadlineQueue, NOT_QUEUED } from './deadline-queue.js';
import { isTransient } from './redis-errors.js';
import type { RenewResult } from './results.js';

/** A renewal is planned when this share of the lease has passed since the last confirmed one was sent. */
const RENEW_SHARE = 1 / 3;
/** Share of the lease between two tries after a failure: about six more fit into what is left of the lease. */
const RETRY_SHARE = 1 / 10;
/** Least pause between two tries in ms. */
const MIN_RETRY_MS = 5;

/** What the watchdog needs of the hold that it keeps alive. */
export interface Renewable {
  readonly term: {
    readonly leaseMs: number;
    /** Send time of the last confirmed grant or renewal. */
    readonly confirmedMs: number;
  };
  /** A renewal, by hand or by the watchdog, waits for its answer. */
  readonly isRenewing: boolean;
  /** Gives up a renewal whose connection has gone, since no answer can come any more. */
  dropDeadRenewal(): void;
  /** Monotonic time. */
  now(): number;
  /** Never rejects. */
  renewLate(lateMs: number): Promise<RenewResult>;
}

/**
 * Renews one hold at a third of its lease. Never two renewals at once; tries again after transient errors; stops for
 * good at the first answer that says "not owned" and whenever the hold ends. The hold itself refuses to be renewed
 * after its end, so that a late tick can do no harm.
 */
export class Watchdog implements DeadlineItem {
  dueMs = 0;
  queueIndex = NOT_QUEUED;
  readonly #hold: Renewable;
  readonly #deadlines: DeadlineQueue;
  #isStopped = false;
  #plannedMs = 0;

  constructor(hold: Renewable, deadlines: DeadlineQueue) {
    this.#hold = hold;
    this.#deadlines = deadlines;
  }

  /** Plans the next renewal from the last confirmed one. Also to be called after a renewal by hand. */
  plan(): void {
    const { confirmedMs, leaseMs } = this.#hold.term;
    this.#planAt(confirmedMs + leaseMs * RENEW_SHARE);
  }

  /** For good. */
  stop(): void {
    this.#isStopped = true;
    this.#deadlines.cancel(this);
  }

  onDue(nowMs: number): void {
    if (this.#hold.isRenewing) this.#hold.dropDeadRenewal();
    if (this.#isStopped) return;
    if (this.#hold.isRenewing) {
      this.#deadlines.set(this, nowMs + this.#retryMs());
      return;
    }
    this.#renew(nowMs);
  }

  #renew(nowMs: number): void {
    const answer = this.#hold.renewLate(Math.max(0, nowMs - this.#plannedMs));
    if (this.#isStopped) return;
    // While it is under way the tick looks whether its connection still stands.
    this.#deadlines.set(this, nowMs + this.#retryMs());
    void answer.then((result) => this.#after(result));
  }

  #after(result: RenewResult): void {
    if (this.#isStopped) return;
    switch (result.outcome) {
      case 'renewed':
        this.plan();
        return;
      case 'error':
      case 'unknown':
        if (isTransient(result.reason)) this.#planAt(this.#hold.now() + this.#retryMs());
        else this.stop();
        return;
      case 'expired':
      case 'stolen':
      case 'ended':
        this.stop();
        return;
      default:
        result satisfies never;
    }
  }

  #planAt(dueMs: number): void {
    if (this.#isStopped) return;
    this.#plannedMs = dueMs;
    this.#deadlines.set(this, dueMs);
  }

  #retryMs(): number {
    return Math.max(MIN_RETRY_MS, this.#hold.term.leaseMs * RETRY_SHARE);
  }
}
