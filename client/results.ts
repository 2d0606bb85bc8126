import type { AbortReason, NotOwnedOutcome, RedisReason, TimeoutReason } from '../contract/outcomes.js';
import type { Lease } from './lease.js';

/** How `tryAcquire` can end without the lock. None of these means that the work may start. */
export type AcquireFailure =
  /** Another holds it; `leftMs` of its lease are left, null when its key has no expiry. */
  | { readonly outcome: 'contended'; readonly leftMs: number | null }
  /** `leftMs` as for `contended`, when another was seen to hold it at the last look. */
  | { readonly outcome: 'timeout'; readonly reason: TimeoutReason; readonly leftMs?: number | null }
  | { readonly outcome: 'aborted'; readonly reason: AbortReason; readonly cause?: unknown }
  /** Redis did not grant it, for certain. */
  | { readonly outcome: 'error'; readonly reason: RedisReason; readonly cause?: unknown }
  /** It may have been granted; a clean-up by the own token was started. */
  | { readonly outcome: 'unknown'; readonly reason: RedisReason; readonly cause?: unknown };

export type AcquireResult = { readonly outcome: 'acquired'; readonly lease: Lease } | AcquireFailure;

/** "You do not own this lock": gone (`expired`), or another's (`stolen`). */
export interface NotOwnedResult {
  readonly outcome: NotOwnedOutcome;
  /** Fence of the latest grant, where Redis knew it. Above the own one: somebody was granted the lock meanwhile. */
  readonly latestFence?: number;
}

/** Redis, or the way to it, failed. `unknown`: it may have been carried out. */
export interface FailedResult {
  readonly outcome: 'error' | 'unknown';
  readonly reason: RedisReason;
  readonly cause?: unknown;
}

/** Nothing was sent, because the hold was already lost or released. */
export interface EndedResult {
  readonly outcome: 'ended';
}

export type ReleaseResult = { readonly outcome: 'released' } | NotOwnedResult | FailedResult;

export type RenewResult =
  | { readonly outcome: 'renewed'; readonly remainingMs: number }
  | NotOwnedResult
  | FailedResult
  | EndedResult;

/** `held`: Redis confirms the own token, with `leftMs` to live there; null without expiry. */
export type CheckResult =
  | { readonly outcome: 'held'; readonly leftMs: number | null }
  | NotOwnedResult
  | { readonly outcome: 'error'; readonly reason: RedisReason; readonly cause?: unknown }
  | EndedResult;
