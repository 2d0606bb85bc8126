import type { DuplicateOutcome, FenceOutcome } from '../contract/outcomes.js';
import type { LeaseLostError } from './errors.js';
import { commitEvent, duplicateEvent, fenceEvent } from './events.js';
import type { Hold } from './hold.js';
import { checkLease, invalidOption, type LockKey } from './options.js';
import type { ClientParts } from './parts.js';
import type { CheckResult, ReleaseResult, RenewResult } from './results.js';

/**
 * A lock that was granted. It is a promise with a deadline, not a right for ever: ask `isValid()` before each step,
 * pass `signal` on, and let the storage refuse late writes by `fence`.
 */
export class Lease implements AsyncDisposable {
  readonly #hold: Hold;
  readonly #parts: ClientParts;
  #knowsLoss = false;

  /** Made by the lock client. */
  constructor(parts: ClientParts, hold: Hold) {
    this.#parts = parts;
    this.#hold = hold;
  }

  /** As given to `acquire`. */
  get key(): LockKey {
    return this.#hold.identity.name.key;
  }

  /** Class of the lock in the metrics. */
  get resource(): string {
    return this.#hold.identity.name.resource;
  }

  /** Fencing number of this grant, above that of every earlier grant of the lock; null with `fence: false`. */
  get fence(): number | null {
    return this.#hold.identity.fence ?? null;
  }

  /**
   * Aborted, with a `LeaseLostError` as its reason, at the local deadline or as soon as a loss is known, whether or
   * not Redis answers. Not aborted by a release. Made on first use.
   */
  get signal(): AbortSignal {
    this.#knowsLoss = true;
    return this.#hold.signal;
  }

  /** What the lease was lost to; undefined when it was not lost. */
  get loss(): LeaseLostError | undefined {
    return this.#hold.loss;
  }

  /** Whether the lease still runs, by this machine's monotonic clock; true also right after a stall. Asks nobody. */
  isValid(): boolean {
    const isValid = this.#hold.isValid();
    if (!isValid) this.#knowsLoss = true;
    return isValid;
  }

  /** Until the local deadline, which is never later than Redis's; 0 after a loss or a release. */
  remainingMs(): number {
    return this.#hold.remainingMs();
  }

  /**
   * Asks Redis whether the lock is still this lease's: the check before a commit. Anything but `held` means: roll
   * back. `held` holds for the moment of the answer only; a fenced write is the stronger guard. Never rejects.
   */
  async check(): Promise<CheckResult> {
    const result = await this.#hold.check();
    if (result.outcome !== 'held') this.#knowsLoss = true;
    return result;
  }

  /**
   * Extends the lease once, from now. Never re-creates a key, and waits for a renewal that is under way.
   * @param leaseMs default: the lease last asked for
   * @throws RedisLockError `invalid_option`, before anything is sent
   */
  async renew(leaseMs?: number): Promise<RenewResult> {
    const result = await this.#hold.renew(
      leaseMs === undefined ? this.#hold.term.leaseMs : checkLease(leaseMs),
    );
    if (result.outcome !== 'renewed') this.#knowsLoss = true;
    return result;
  }

  /**
   * Gives the lock back, once; repeated and concurrent calls share one answer. The end of the hold is the call, not
   * the answer. After a loss too it asks Redis, and tells what it found. Never rejects.
   */
  release(): Promise<ReleaseResult> {
    this.#knowsLoss = true;
    return this.#hold.release();
  }

  /** Marks the business commit on the timeline. */
  committed(): void {
    const sinceGrantMs = this.#hold.now() - this.#hold.grant.sentMs;
    this.#parts.events.emit(commitEvent(this.#parts.moment(), this.#hold.identity, sinceGrantMs));
  }

  /**
   * Tells that a fenced store took or refused a write under this lease.
   * @param seen highest fence that the store had seen, a whole number from 0
   * @throws RedisLockError `invalid_option`, also for a lease without a fence
   */
  reportFence(outcome: FenceOutcome, seen: number): void {
    if (this.fence === null) throw invalidOption('reportFence needs a lock acquired with fence: true');
    if (!Number.isSafeInteger(seen) || seen < 0) throw invalidOption('seen must be a whole number from 0');
    if (outcome !== 'accepted' && outcome !== 'rejected')
      throw invalidOption('A fence is accepted or rejected');
    this.#parts.events.emit(fenceEvent(this.#parts.moment(), this.#hold.identity, outcome, this.fence, seen));
  }

  /**
   * Tells that a business action ran a second time: idempotency caught it (`absorbed`), or it took effect twice.
   * @throws RedisLockError `invalid_option`
   */
  reportDuplicate(outcome: DuplicateOutcome): void {
    if (outcome !== 'absorbed' && outcome !== 'unabsorbed')
      throw invalidOption('A duplicate is absorbed or unabsorbed');
    this.#parts.events.emit(duplicateEvent(this.#parts.moment(), this.#hold.identity, outcome));
  }

  /**
   * `await using`: releases at the end of the block.
   * @throws LeaseLostError when the lease was lost and the block had no way to know: it never read `signal`, and no
   * `isValid()`, `check()`, `renew()` or `release()` told it
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const knewLoss = this.#knowsLoss;
    await this.#hold.release();
    const { loss } = this.#hold;
    if (loss !== undefined && !knewLoss) throw loss;
  }
}
