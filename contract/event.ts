import { z } from 'zod';
import { DIGEST_DIGITS } from './lock-id.js';
import {
  ABORT_REASONS,
  ACQUIRE_MODES,
  CHECK_OUTCOMES,
  DUPLICATE_OUTCOMES,
  FENCE_OUTCOMES,
  LOST_BY,
  MAX_LEASE_MS,
  REDIS_REASONS,
  RELEASE_OUTCOMES,
  RENEW_OUTCOMES,
  TIMEOUT_REASONS,
  UNKNOWN_REASONS,
} from './outcomes.js';
import { MAX_RESOURCE_LENGTH } from './resource.js';
import { plainTextPattern } from './text.js';

/** Longest duration that an event may report: about 115 days. */
export const MAX_DURATION_MS = 10_000_000_000;
/** Longest `keyBase64`: a key of 768 bytes. Longer keys are not sent; such a lock is seen by sweeps only. */
export const MAX_KEY_BASE64_LENGTH = 1024;

/** Wall times before 2001 or after 2286 are in another unit than milliseconds. */
const MIN_WALL_MS = 1_000_000_000_000;
const MAX_WALL_MS = 9_999_999_999_999;

const count = z.int().min(0);
const durationMs = z.number().min(0).max(MAX_DURATION_MS);

/** The building blocks of fields, for events, holds and the envelope. */
export const field = {
  wallMs: z
    .number()
    .min(MIN_WALL_MS, 'must be milliseconds since the epoch (this looks like seconds)')
    .max(MAX_WALL_MS),
  redisUs: z.int().min(0),
  digest: z
    .string()
    .regex(new RegExp(`^[0-9a-f]{${DIGEST_DIGITS}}$`), `must be ${DIGEST_DIGITS} lower-case hex digits`),
  resource: z
    .string()
    .min(1)
    .max(MAX_RESOURCE_LENGTH)
    .regex(plainTextPattern(), 'must hold no control characters'),
  serverId: z.string().regex(/^[0-9A-Za-z]{1,40}$/, 'must be 1 to 40 letters or digits (Redis’s run_id)'),
  fence: z.int().min(1),
  leaseMs: z.int().min(1).max(MAX_LEASE_MS),
  keyBase64: z
    .string()
    .min(1)
    .max(MAX_KEY_BASE64_LENGTH)
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be base64'),
  traceId: z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 visible ASCII characters'),
  durationMs,
  count,
} as const;

/** What every event carries. */
const common = {
  /** Wall time at which it happened, for people; never used for a duration, an order or a rate. */
  atMs: field.wallMs,
  resource: field.resource,
  /** Lock id: see `lockId`. */
  lock: field.digest,
  /** Redis's clock when it answered, where an answer came. Comparable only within one `serverId`. */
  serverUs: field.redisUs.optional(),
  /** The server that `serverUs` and the fences belong to, where it differs from the envelope's (Cluster, failover). */
  serverId: field.serverId.optional(),
} as const;

/** Of events about one hold: which one. */
const ofHold = { ...common, owner: field.digest, fence: field.fence.optional() } as const;

/** What a not-owned answer tells of the latest grant of the lock. */
const latestGrant = {
  /** Fence of the latest grant. Above the own fence: somebody was granted meanwhile. */
  latestFence: field.fence.optional(),
  /** Redis's clock at the latest grant. */
  latestGrantUs: field.redisUs.optional(),
} as const;

const acquireCommon = {
  ...common,
  kind: z.literal('acquire'),
  /** `try`: the caller would not wait. `wait`: it would. */
  mode: z.enum(ACQUIRE_MODES),
  /** From the call to its outcome. */
  waitMs: durationMs,
  /** Commands sent to get the lock; 0 when it was given up before the first. */
  attempts: count,
  leaseMs: field.leaseMs,
  watchdog: z.boolean(),
  traceId: field.traceId.optional(),
} as const;

/**
 * One call to acquire a lock, all its attempts together. Emitted once, when its outcome is known.
 * Not emitted for a call refused for its arguments, and not for the clean-up of an unknown outcome.
 */
const acquireEvent = z.discriminatedUnion('outcome', [
  z.object({
    ...acquireCommon,
    outcome: z.literal('acquired'),
    owner: field.digest,
    fence: field.fence.optional(),
    keyBase64: field.keyBase64.optional(),
  }),
  z.object({ ...acquireCommon, outcome: z.literal('contended') }),
  z.object({ ...acquireCommon, outcome: z.literal('timeout'), reason: z.enum(TIMEOUT_REASONS) }),
  z.object({ ...acquireCommon, outcome: z.literal('aborted'), reason: z.enum(ABORT_REASONS) }),
  z.object({ ...acquireCommon, outcome: z.literal('error'), reason: z.enum(REDIS_REASONS) }),
  z.object({
    ...acquireCommon,
    outcome: z.literal('unknown'),
    reason: z.enum(UNKNOWN_REASONS),
    /** Digest of the token that may be stored, so that an orphan can be named. */
    owner: field.digest.optional(),
  }),
]);

/**
 * One try to extend a lease. Emitted for each, whatever its outcome.
 * Not emitted after a loss, a release or `maxHoldMs`, since no renewal is sent then; and not for a reply that
 * comes after the hold ended.
 */
const renewEvent = z.object({
  ...ofHold,
  ...latestGrant,
  kind: z.literal('renew'),
  outcome: z.enum(RENEW_OUTCOMES),
  /** With `error` and `unknown`. */
  reason: z.enum(REDIS_REASONS).optional(),
  leaseMs: field.leaseMs,
  /** Lease left when the renewal was sent. */
  leftMs: durationMs,
  /** How much later than planned it was sent; 0 for one that the caller asked for. */
  lateMs: durationMs,
});

/** One pre-commit check asked of Redis. Emitted for each. Not emitted for `isValid()`, which asks nobody. */
const checkEvent = z.object({
  ...ofHold,
  ...latestGrant,
  kind: z.literal('check'),
  outcome: z.enum(CHECK_OUTCOMES),
  /** With `error`. */
  reason: z.enum(REDIS_REASONS).optional(),
});

/**
 * The lease ended, or the key became another's, while the work went on. Emitted at once, and once per hold,
 * before the hold's `release`. Not emitted when the work settled first, and not by a process that was killed.
 */
const lostEvent = z.object({
  ...ofHold,
  ...latestGrant,
  kind: z.literal('lost'),
  by: z.enum(LOST_BY),
  /** From the send of the granting command to the discovery. */
  sinceGrantMs: durationMs,
  leaseMs: field.leaseMs,
  /** Worst event-loop delay during the hold: tells a pause from slow work. */
  loopDelayMs: durationMs,
});

/**
 * The work settled and the lock was given back, or found gone. Emitted exactly once per hold that began with an
 * `acquired`, also after a loss and for a lease left to the end of its process's life by an orderly exit.
 * Not emitted by a process that was killed; a repeated `release()` adds nothing.
 */
const releaseEvent = z.object({
  ...ofHold,
  ...latestGrant,
  kind: z.literal('release'),
  outcome: z.enum(RELEASE_OUTCOMES),
  /** With `error` and `unknown`. */
  reason: z.enum(REDIS_REASONS).optional(),
  /** From the send of the granting command until the work settled. */
  holdMs: durationMs,
  /** The lease last asked for. */
  leaseMs: field.leaseMs,
  /** Confirmed extensions. */
  renewals: count,
  /**
   * The largest share of a lease used: (confirmation of the next extension, or end of the work, minus send of
   * the last confirmed one) ÷ its lease. Above 1: the lease had ended.
   */
  peakUse: z.number().min(0).max(MAX_DURATION_MS),
  /** A `lost` event was emitted for this hold. */
  lost: z.boolean(),
  /** Redis's clock when the work settled, as a lower bound: it errs by no more than one round trip. */
  settledUs: field.redisUs.optional(),
  loopDelayMs: durationMs,
});

/** The caller marked its business commit. Emitted for each mark; never by the client itself. */
const commitEvent = z.object({ ...ofHold, kind: z.literal('commit'), sinceGrantMs: durationMs });

/** A fenced store took or refused a write. Emitted when the caller reports it; never by the client itself. */
const fenceEvent = z.object({
  ...common,
  kind: z.literal('fence'),
  outcome: z.enum(FENCE_OUTCOMES),
  owner: field.digest.optional(),
  /** The fence of the write. */
  fence: field.fence,
  /** The highest fence that the store had seen. */
  seen: z.int().min(0),
});

/** A business action ran twice. Emitted when the caller reports it; never by the client itself. */
const duplicateEvent = z.object({
  ...common,
  kind: z.literal('duplicate'),
  outcome: z.enum(DUPLICATE_OUTCOMES),
  owner: field.digest.optional(),
});

/** The schema of each kind of event. Unknown fields are ignored, so that a newer client may post to an older exporter. */
export const EVENT_SCHEMAS = {
  acquire: acquireEvent,
  renew: renewEvent,
  check: checkEvent,
  lost: lostEvent,
  release: releaseEvent,
  commit: commitEvent,
  fence: fenceEvent,
  duplicate: duplicateEvent,
} as const;

export type EventKind = keyof typeof EVENT_SCHEMAS;
export const EVENT_KINDS = Object.keys(EVENT_SCHEMAS) as EventKind[];

/** Any event. */
export const eventSchema = z.discriminatedUnion('kind', [
  acquireEvent,
  renewEvent,
  checkEvent,
  lostEvent,
  releaseEvent,
  commitEvent,
  fenceEvent,
  duplicateEvent,
]);

export type LockEvent = z.infer<typeof eventSchema>;
export type AcquireEvent = z.infer<typeof acquireEvent>;
export type RenewEvent = z.infer<typeof renewEvent>;
export type CheckEvent = z.infer<typeof checkEvent>;
export type LostEvent = z.infer<typeof lostEvent>;
export type ReleaseEvent = z.infer<typeof releaseEvent>;
export type CommitEvent = z.infer<typeof commitEvent>;
export type FenceEvent = z.infer<typeof fenceEvent>;
export type DuplicateEvent = z.infer<typeof duplicateEvent>;
