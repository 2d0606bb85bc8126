/**
 * Every kind, outcome and reason that an event may carry. These words are label values in the metrics and names
 * in the alert rules: a word, once published, never changes its meaning.
 */

/** The largest lease: 24 hours. A lock meant to live longer is a record, not a lock. */
export const MAX_LEASE_MS = 86_400_000;

/** Why Redis, or the way to it, failed. Shared by all kinds whose outcome can be `error` or `unknown`. */
export const REDIS_REASONS = [
  'connection',
  'command_timeout',
  'readonly',
  'wrong_type',
  'loading',
  'busy',
  'out_of_memory',
  'no_permission',
  'no_auth',
  'cluster_down',
  'cross_slot',
  'moved',
  'master_down',
  'no_replicas',
  'max_clients',
  'script',
  'bad_reply',
  'other',
] as const;
export type RedisReason = (typeof REDIS_REASONS)[number];

/** Why waiting for a lock ended without it: the wait limit, the business deadline, or a reply slower than the lease. */
export const TIMEOUT_REASONS = ['wait_limit', 'deadline', 'slow_reply'] as const;
export type TimeoutReason = (typeof TIMEOUT_REASONS)[number];

/** Why an acquire was given up by the caller's side: its signal, load shedding, or a closed client. */
export const ABORT_REASONS = ['signal', 'shed', 'closed'] as const;
export type AbortReason = (typeof ABORT_REASONS)[number];

/** How an acquire failed, for `redis_lock_acquire_failures_total`: the event's reason, or `contended`. */
export const ACQUIRE_FAILURE_REASONS = [
  'contended',
  ...TIMEOUT_REASONS,
  ...ABORT_REASONS,
  ...REDIS_REASONS,
] as const;
export type AcquireFailureReason = (typeof ACQUIRE_FAILURE_REASONS)[number];

export const ACQUIRE_MODES = ['try', 'wait'] as const;
export type AcquireMode = (typeof ACQUIRE_MODES)[number];

export const ACQUIRE_OUTCOMES = ['acquired', 'contended', 'timeout', 'aborted', 'error', 'unknown'] as const;
export type AcquireOutcome = (typeof ACQUIRE_OUTCOMES)[number];

export const RENEW_OUTCOMES = ['renewed', 'expired', 'stolen', 'error', 'unknown'] as const;
export type RenewOutcome = (typeof RENEW_OUTCOMES)[number];

export const CHECK_OUTCOMES = ['held', 'expired', 'stolen', 'error'] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** What told the client that a hold was lost; `max_hold`: the client itself gave it up at `maxHoldMs`. */
export const LOST_BY = ['deadline', 'renew', 'check', 'release', 'max_hold'] as const;
export type LostBy = (typeof LOST_BY)[number];

export const RELEASE_OUTCOMES = ['released', 'expired', 'stolen', 'error', 'unknown'] as const;
export type ReleaseOutcome = (typeof RELEASE_OUTCOMES)[number];

/** The two answers that say "you do not own this lock": the key is gone, or it holds another's token. */
export const NOT_OWNED_OUTCOMES = ['expired', 'stolen'] as const;
export type NotOwnedOutcome = (typeof NOT_OWNED_OUTCOMES)[number];

export const FENCE_OUTCOMES = ['accepted', 'rejected'] as const;
export type FenceOutcome = (typeof FENCE_OUTCOMES)[number];

export const DUPLICATE_OUTCOMES = ['absorbed', 'unabsorbed'] as const;
export type DuplicateOutcome = (typeof DUPLICATE_OUTCOMES)[number];

/**
 * Why a producer dropped events it had emitted: its queue was full, the exporter refused the batch for good, the
 * process ended before a flush was done, one event alone was larger than an event may be, or it could not be built.
 */
export const DROP_REASONS = ['queue_full', 'refused', 'shutdown', 'too_large', 'encode_failed'] as const;
export type DropReason = (typeof DROP_REASONS)[number];
