import { type ErrorId, RedisLockError } from '../contract/errors.js';
import type {
  AbortReason,
  AcquireOutcome,
  LostBy,
  RedisReason,
  TimeoutReason,
} from '../contract/outcomes.js';
import type { AcquireFailure } from './results.js';

/** How a lock is named in an error: its class and its digest, never its key. */
export interface LockLabel {
  readonly resource: string;
  /** Lock id, 16 hex digits. */
  readonly lock: string;
}

/** A lock that was not granted. `outcome` and `reason` are those of the event. */
export class AcquireError extends RedisLockError {
  override readonly name: string = 'AcquireError';
  readonly outcome: Exclude<AcquireOutcome, 'acquired'>;
  readonly reason: string | undefined;
  readonly resource: string;
  readonly lock: string;

  constructor(id: ErrorId, detail: string, label: LockLabel, failure: AcquireFailure) {
    super(id, `${detail} (resource ${label.resource}, lock ${label.lock})`, causeOf(failure));
    this.outcome = failure.outcome;
    this.reason = failure.outcome === 'contended' ? undefined : failure.reason;
    this.resource = label.resource;
    this.lock = label.lock;
  }
}

/** Another holds the lock and there was no time to wait. */
export class LockContendedError extends AcquireError {
  override readonly name = 'LockContendedError';
  /** What was left of the other's lease; null when its key has no expiry. */
  readonly leftMs: number | null;

  constructor(label: LockLabel, failure: AcquireFailure & { outcome: 'contended' }) {
    const lasts = failure.leftMs === null ? NO_EXPIRY : '';
    super('acquire_contended', `Another holds the lock${lasts}`, label, failure);
    this.leftMs = failure.leftMs;
  }
}

/** The lock did not come in time. */
export class AcquireTimeoutError extends AcquireError {
  override readonly name = 'AcquireTimeoutError';
  declare readonly reason: TimeoutReason;
  /**
   * What was left of the other's lease at the last look; null when its key has no expiry, and waiting is in vain until
   * somebody deletes it. Undefined when no other was seen.
   */
  readonly leftMs: number | null | undefined;

  constructor(label: LockLabel, failure: AcquireFailure & { outcome: 'timeout' }) {
    const lasts = failure.leftMs === null ? NO_EXPIRY : '';
    super('acquire_timeout', `${TIMEOUT_DETAILS[failure.reason]}${lasts}`, label, failure);
    this.leftMs = failure.leftMs;
  }
}

/** The acquire was given up from this side. */
export class AcquireAbortedError extends AcquireError {
  override readonly name = 'AcquireAbortedError';
  declare readonly reason: AbortReason;

  constructor(label: LockLabel, failure: AcquireFailure & { outcome: 'aborted' }) {
    super('acquire_aborted', ABORT_DETAILS[failure.reason], label, failure);
  }
}

/** Redis refused; the lock was not granted. */
export class AcquireFailedError extends AcquireError {
  override readonly name = 'AcquireFailedError';
  declare readonly reason: RedisReason;

  constructor(label: LockLabel, failure: AcquireFailure & { outcome: 'error' }) {
    super('acquire_failed', `Redis failed: ${failure.reason}`, label, failure);
  }
}

/** It is not known whether the lock was granted; it is being given back, should it have been. */
export class AcquireUnknownError extends AcquireError {
  override readonly name = 'AcquireUnknownError';
  declare readonly reason: RedisReason;

  constructor(label: LockLabel, failure: AcquireFailure & { outcome: 'unknown' }) {
    super('acquire_unknown', `The answer to the acquire was lost: ${failure.reason}`, label, failure);
  }
}

/** What is known about a loss. */
export interface LossFacts {
  readonly by: LostBy;
  readonly sinceGrantMs: number;
  readonly fence: number | undefined;
  /** Fence of the latest grant, where an answer told it. */
  readonly latestFence: number | undefined;
}

/** The lease ended, or the lock became another's, while the work went on. */
export class LeaseLostError extends RedisLockError {
  override readonly name = 'LeaseLostError';
  readonly by: LostBy;
  readonly resource: string;
  readonly lock: string;
  readonly sinceGrantMs: number;
  readonly fence: number | undefined;
  readonly latestFence: number | undefined;

  constructor(label: LockLabel, facts: LossFacts) {
    super(
      'lease_lost',
      `${LOSS_DETAILS[facts.by]} (resource ${label.resource}, lock ${label.lock}, ${Math.round(facts.sinceGrantMs)} ms after the grant)`,
    );
    this.by = facts.by;
    this.resource = label.resource;
    this.lock = label.lock;
    this.sinceGrantMs = facts.sinceGrantMs;
    this.fence = facts.fence;
    this.latestFence = facts.latestFence;
  }

  /** True: somebody was granted the lock before this was found. False: that is not known. */
  get overlapped(): boolean {
    return this.fence !== undefined && this.latestFence !== undefined && this.latestFence > this.fence;
  }
}

/** Turns a failed acquire into what `acquire` and `withLock` throw. */
export function acquireError(label: LockLabel, failure: AcquireFailure): AcquireError {
  switch (failure.outcome) {
    case 'contended':
      return new LockContendedError(label, failure);
    case 'timeout':
      return new AcquireTimeoutError(label, failure);
    case 'aborted':
      return new AcquireAbortedError(label, failure);
    case 'error':
      return new AcquireFailedError(label, failure);
    case 'unknown':
      return new AcquireUnknownError(label, failure);
    default:
      return failure satisfies never;
  }
}

function causeOf(failure: AcquireFailure): { cause?: unknown } {
  return 'cause' in failure && failure.cause !== undefined ? { cause: failure.cause } : {};
}

const NO_EXPIRY = ': its key has no expiry, so it stays until somebody deletes it';

const TIMEOUT_DETAILS: Readonly<Record<TimeoutReason, string>> = {
  wait_limit: 'The lock did not become free within waitMs',
  deadline: 'The lock came too late for the deadline',
  slow_reply: 'The answer took longer than the lease, so the grant was over when it came',
};

const ABORT_DETAILS: Readonly<Record<AbortReason, string>> = {
  signal: 'The signal ended the acquire',
  shed: 'The acquire was refused to shed load: recent holds of this resource come close to their lease',
  closed: 'The lock client is closed',
};

const LOSS_DETAILS: Readonly<Record<LostBy, string>> = {
  deadline: 'The lease ended while the work went on',
  renew: 'A renewal found that the lock is not owned any more',
  check: 'A check found that the lock is not owned any more',
  release: 'The release found that the lock was not owned any more',
  max_hold: 'The hold reached maxHoldMs and is not renewed any more',
};
