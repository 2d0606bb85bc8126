import { z } from 'zod';
import { eventSchema, field } from './event.js';
import { plainTextPattern } from './text.js';

/** Version of the contract. It grows only when an old exporter could misread a new batch. */
export const CONTRACT_VERSION = 1;
/** A producer that holds something sends a batch at least this often, or `BEATS_PER_LEASE` times in its shortest lease, whichever is longer. */
export const MIN_HEARTBEAT_MS = 1000;
/** So that one lost heartbeat does not look like a dead holder. */
export const BEATS_PER_LEASE = 5;
/** Where batches are posted. */
export const EVENTS_PATH = '/v1/events';
/** Most drops that a producer may report: more than any run can have, and sums of many stay exact. */
const MAX_DROPPED = 1_000_000_000_000;
/** Most events in one batch. */
export const MAX_BATCH_EVENTS = 1000;
/** Most holds in one batch; a larger set goes on in the next one (`holdsMore`). */
export const MAX_BATCH_HOLDS = 2000;
/** Largest body, after inflation, in bytes. */
export const MAX_BODY_BYTES = 1_048_576;
/** Name of the store when none is configured, on both sides. */
export const DEFAULT_STORE = 'default';
/** Where the exporter listens for events when nothing else is configured, and where the client posts. */
export const DEFAULT_INGEST_ADDRESS = '127.0.0.1:9723';

/** One lock that the producer believes to hold at `sentAtMs`. */
const holdSchema = z.object({
  lock: field.digest.describe('Lock id'),
  owner: field.digest.describe('Digest of the owner token'),
  resource: field.resource.describe('Bounded class of locks'),
  fence: field.fence.optional().describe('Fencing number of the grant'),
  grantUs: field.redisUs.describe('Redis’s clock at the grant'),
  serverId: field.serverId.optional().describe('Server of grantUs, where it differs from the envelope’s'),
  leaseMs: field.leaseMs,
  leftMs: field.durationMs.describe('Lease left by the holder’s own deadline; 0 once it has passed'),
  renewals: field.count.describe('Confirmed extensions so far'),
  keyBase64: field.keyBase64
    .optional()
    .describe(
      'The key’s bytes, so that the exporter can look at this key without a sweep. Never shown, logged or stored',
    ),
});
export type Hold = z.infer<typeof holdSchema>;

const name = z.string().min(1).max(64).regex(plainTextPattern(), 'must hold no control characters');

/** Name of a store: part of every lock's identity, so it is plain ASCII. */
export const storeSchema = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ . -');

const envelope = {
  v: z.literal(CONTRACT_VERSION).describe('Version of the contract'),
  producer: z
    .string()
    .regex(/^[A-Za-z0-9_-]{8,64}$/, 'must be 8 to 64 of A-Z a-z 0-9 _ -')
    .describe('Random name of one client’s run; a restart makes a new one'),
  startedAtMs: field.wallMs.describe('Wall time at which the producer began'),
  seq: z
    .int()
    .min(1)
    .describe('Number of this batch, from 1. A resend has the same number and the same body'),
  sentAtMs: field.wallMs.describe('Wall time at which the batch was built'),
  store: storeSchema.describe('Configured name of the Redis (deployment and database) that the locks are in'),
  serverId: field.serverId
    .optional()
    .describe(
      'Run id of the Redis server that the events’ serverUs come from, unless an event says otherwise',
    ),
  app: name.describe('Name of the application'),
  instance: name.describe('Which process of it: host and pid, or the pod’s name'),
  dropped: z
    .record(z.string().regex(/^[a-z_]{1,32}$/), z.int().min(0).max(MAX_DROPPED))
    .describe(
      'Events emitted but never delivered, by reason, since startedAtMs. Reasons without drops may be left out; a reason that is not one of DROP_REASONS is counted as other',
    ),
  holds: z
    .array(holdSchema)
    .max(MAX_BATCH_HOLDS)
    .optional()
    .describe(
      'The full set of holds. Sent first, after the exporter’s epoch changed and after a drop; a batch without it says that the producer is alive and what it reported before still stands',
    ),
  holdsMore: z
    .boolean()
    .optional()
    .describe('The set of holds is not complete yet: it goes on in the next batch'),
  closing: z
    .boolean()
    .optional()
    .describe('The producer ends in order: when its last batch carries this it said goodbye and did not die'),
} as const;

/** A batch as a whole. The exporter checks `events` one by one (`envelopeSchema`): a bad event costs only itself. */
export const batchSchema = z.object({
  ...envelope,
  events: z
    .array(eventSchema)
    .max(MAX_BATCH_EVENTS)
    .describe('What happened, in order; may be empty (a heartbeat)'),
});
export type Batch = z.infer<typeof batchSchema>;

/** A batch with its events unread. */
export const envelopeSchema = z.object({ ...envelope, events: z.array(z.unknown()).max(MAX_BATCH_EVENTS) });
export type Envelope = z.infer<typeof envelopeSchema>;

const rejectedSchema = z.object({
  index: z.int().min(0).describe('Position in events'),
  path: z.string().describe('Dotted path of the field, empty for the event itself'),
  message: z.string().describe('What is wrong'),
});
export type RejectedEvent = z.infer<typeof rejectedSchema>;

/** The answer to a batch that could be read. For a batch already seen it repeats the first answer's counts. */
export const answerSchema = z.object({
  epoch: z
    .string()
    .min(1)
    .max(64)
    .describe(
      'Random name of this exporter’s run. When it changes, the exporter has forgotten everything: send holds',
    ),
  accepted: field.count.describe('Events taken'),
  rejected: z.array(rejectedSchema).describe('Events refused, each with the reason; the others were taken'),
  duplicate: z.boolean().describe('This (producer, seq) was seen before; nothing was counted again'),
});
export type Answer = z.infer<typeof answerSchema>;

/** The answer to a batch that was refused as a whole; `REFUSALS` has the status of each id. */
export const refusalSchema = z.object({
  error: z
    .object({
      id: z.string().describe('Which refusal it is. Take one that you do not know by its status'),
      message: z.string().describe('What is wrong and what to do'),
    })
    .describe('Why the batch was refused as a whole'),
});
export type Refusal = z.infer<typeof refusalSchema>;
