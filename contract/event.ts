import { z } from 'zod';
import { DIGEST_DIGITS } from './lock-id.js';
import {
  ABORT_REASONS,
  ACQUIRE_MODES,
  DUPLICATE_OUTCOMES,
  FENCE_OUTCOMES,
  LOST_BY,
  MAX_LEASE_MS,
  REDIS_REASONS,
  TIMEOUT_REASONS,
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

/** Enough for anything that one hold or one call can count; sums of many stay exact. */
const count = z.int().min(0).max(1_000_000_000);
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
  leaseMs: z.int().min(1).max(MAX_LEASE_MS).describe('Time Redis was asked to keep the key'),
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
  atMs: field.wallMs.describe(
    'Wall time at which it happened, for people; never used for a duration, an order or a rate',
  ),
  resource: field.resource.describe('Bounded class of locks; the exporter’s label'),
  lock: field.digest.describe(
    'Lock id: first 16 hex digits of SHA-256 of store name, a zero byte and the key’s bytes',
  ),
  serverUs: field.redisUs
    .optional()
    .describe('Redis’s clock when it answered, where an answer came. Comparable only within one serverId'),
  serverId: field.serverId
    .optional()
    .describe(
      'The server that serverUs and the fences belong to, where it differs from the envelope’s (Cluster, failover)',
    ),
} as const;

/** Of events about one hold: which one. */
const ofHold = {
  ...common,
  owner: field.digest.describe('First 16 hex digits of SHA-1 of the owner token'),
  fence: field.fence.optional().describe('Fencing number of the hold’s grant'),
} as const;

/** What a not-owned answer tells of the latest grant of the lock. */
const latestGrant = {
  latestFence: field.fence
    .optional()
    .describe('Fence of the latest grant. Above the own fence: somebody was granted meanwhile'),
  latestGrantUs: field.redisUs.optional().describe('Redis’s clock at the latest grant'),
} as const;

const redisReason = z.enum(REDIS_REASONS).describe('Why');

/** The word that tells the shapes of one kind apart. */
function outcome<const Word extends string>(word: Word) {
  return z.literal(word).describe('How it ended');
}

const acquireCommon = {
  ...common,
  kind: z.literal('acquire').describe('Kind of event'),
  mode: z.enum(ACQUIRE_MODES).describe('try: the caller would not wait. wait: it would'),
  waitMs: durationMs.describe('From the call to its outcome'),
  attempts: count.describe('Commands sent to get the lock; 0 when it was given up before the first'),
  leaseMs: field.leaseMs,
  watchdog: z.boolean().describe('The lease is renewed while the work goes on'),
  traceId: field.traceId.optional().describe('Trace that the call belongs to'),
} as const;

const acquireEvent = z.discriminatedUnion('outcome', [
  z.object({
    ...acquireCommon,
    outcome: outcome('acquired'),
    owner: ofHold.owner,
    fence: ofHold.fence,
    keyBase64: field.keyBase64
      .optional()
      .describe(
        'The key’s bytes, so that the exporter can look at this key without a sweep. Never shown, logged or stored',
      ),
  }),
  z.object({ ...acquireCommon, outcome: outcome('contended') }),
  z.object({
    ...acquireCommon,
    outcome: outcome('timeout'),
    reason: z.enum(TIMEOUT_REASONS).describe('Why'),
  }),
  z.object({
    ...acquireCommon,
    outcome: outcome('aborted'),
    reason: z.enum(ABORT_REASONS).describe('Why'),
  }),
  z.object({
    ...acquireCommon,
    outcome: outcome('error'),
    reason: redisReason,
  }),
  z.object({
    ...acquireCommon,
    outcome: outcome('unknown'),
    reason: redisReason,
    owner: field.digest
      .optional()
      .describe('Digest of the token that may be stored, so that an orphan can be named'),
  }),
]);

const renewCommon = {
  ...ofHold,
  kind: z.literal('renew').describe('Kind of event'),
  leaseMs: field.leaseMs,
  leftMs: durationMs.describe('Lease left when the renewal was sent'),
  lateMs: durationMs
    .optional()
    .describe('How much later than planned it was sent. Absent for a renewal that the caller asked for'),
} as const;

const renewEvent = z.discriminatedUnion('outcome', [
  z.object({ ...renewCommon, outcome: outcome('renewed') }),
  z.object({ ...renewCommon, ...latestGrant, outcome: outcome('expired') }),
  z.object({ ...renewCommon, ...latestGrant, outcome: outcome('stolen') }),
  z.object({ ...renewCommon, outcome: outcome('error'), reason: redisReason }),
  z.object({ ...renewCommon, outcome: outcome('unknown'), reason: redisReason }),
]);

const checkCommon = { ...ofHold, kind: z.literal('check').describe('Kind of event') } as const;

const checkEvent = z.discriminatedUnion('outcome', [
  z.object({ ...checkCommon, outcome: outcome('held') }),
  z.object({ ...checkCommon, ...latestGrant, outcome: outcome('expired') }),
  z.object({ ...checkCommon, ...latestGrant, outcome: outcome('stolen') }),
  z.object({ ...checkCommon, outcome: outcome('error'), reason: redisReason }),
]);

const lostEvent = z.object({
  ...ofHold,
  ...latestGrant,
  kind: z.literal('lost').describe('Kind of event'),
  by: z.enum(LOST_BY).describe('What told the client'),
  sinceGrantMs: durationMs.describe('From the send of the granting command to the discovery'),
  leaseMs: field.leaseMs,
  loopDelayMs: durationMs.describe('Worst event-loop delay during the hold: tells a pause from slow work'),
});

const releaseCommon = {
  ...ofHold,
  kind: z.literal('release').describe('Kind of event'),
  holdMs: durationMs.describe('From the send of the granting command until the work settled'),
  leaseMs: field.leaseMs.describe('The lease last asked for'),
  renewals: count.describe('Confirmed extensions'),
  peakUse: z
    .number()
    .min(0)
    .max(MAX_DURATION_MS)
    .describe(
      'The largest share of a lease used: (confirmation of the next extension, or end of the work, minus send of the last confirmed one) ÷ its lease. Above 1: the lease had ended',
    ),
  lost: z.boolean().describe('A lost event was emitted for this hold'),
  settledUs: field.redisUs
    .optional()
    .describe(
      'Redis’s clock when the work settled, as a lower bound: it errs by no more than one round trip',
    ),
  loopDelayMs: durationMs.describe('Worst event-loop delay during the hold: tells a pause from slow work'),
} as const;

const releaseEvent = z.discriminatedUnion('outcome', [
  z.object({ ...releaseCommon, outcome: outcome('released') }),
  z.object({ ...releaseCommon, ...latestGrant, outcome: outcome('expired') }),
  z.object({ ...releaseCommon, ...latestGrant, outcome: outcome('stolen') }),
  z.object({ ...releaseCommon, outcome: outcome('error'), reason: redisReason }),
  z.object({ ...releaseCommon, outcome: outcome('unknown'), reason: redisReason }),
]);

const commitEvent = z.object({
  ...ofHold,
  kind: z.literal('commit').describe('Kind of event'),
  sinceGrantMs: durationMs.describe('From the send of the granting command to the mark'),
});

const fenceEvent = z.object({
  ...common,
  kind: z.literal('fence').describe('Kind of event'),
  outcome: z.enum(FENCE_OUTCOMES).describe('How it ended'),
  owner: field.digest.optional().describe('Digest of the owner token, where it is known'),
  fence: field.fence.describe('The fence of the write'),
  seen: z.int().min(0).describe('The highest fence that the store had seen'),
});

const duplicateEvent = z.object({
  ...common,
  kind: z.literal('duplicate').describe('Kind of event'),
  outcome: z.enum(DUPLICATE_OUTCOMES).describe('How it ended'),
  owner: field.digest.optional().describe('Digest of the owner token, where it is known'),
});

/** The schema of each kind of event; `EVENT_DOCS` says when each is emitted. Unknown fields are ignored, so that a newer client may post to an older exporter. */
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
