/** What a sender does with a refused batch: try the same bytes again later, or give the batch up. */
export type AfterRefusal = 'retry' | 'final';

/** One reason for which a request is refused as a whole. */
interface RefusalSpec {
  readonly status: number;
  readonly after: AfterRefusal;
  readonly meaning: string;
}

/**
 * Every refusal by its id: the status, what a sender does, and what it means. A `retry` with 429 or 503 may carry
 * Retry-After. A token that is changed, or a path that is mended, heals: so 401, 403 and 404 are tried again, slowly.
 */
export const REFUSALS = {
  bad_json: { status: 400, after: 'final', meaning: 'The body is not JSON, or not UTF-8.' },
  bad_envelope: {
    status: 400,
    after: 'final',
    meaning: 'A field of the envelope is missing or wrong; the message names it.',
  },
  wrong_store: {
    status: 400,
    after: 'final',
    meaning: 'The exporter serves another store; the message names both.',
  },
  bad_request: { status: 400, after: 'final', meaning: 'The request is no HTTP that the exporter reads.' },
  bad_query: {
    status: 400,
    after: 'final',
    meaning: 'A parameter of the address is wrong; the message names it.',
  },
  unauthorized: { status: 401, after: 'retry', meaning: 'The bearer token is missing or wrong.' },
  forbidden: {
    status: 403,
    after: 'retry',
    meaning: 'The Host or Origin header is foreign: the exporter takes no posts from web pages.',
  },
  not_found: { status: 404, after: 'retry', meaning: 'There is nothing at this path.' },
  method_not_allowed: { status: 405, after: 'final', meaning: 'The path takes another method.' },
  request_timeout: { status: 408, after: 'retry', meaning: 'The request came too slowly.' },
  too_large: {
    status: 413,
    after: 'final',
    meaning: 'The body is larger than a batch may be, after inflation.',
  },
  unsupported_media_type: {
    status: 415,
    after: 'final',
    meaning: 'The body is not application/json, or its encoding is neither identity nor gzip.',
  },
  headers_too_large: { status: 431, after: 'final', meaning: 'The headers of the request are too long.' },
  internal: { status: 500, after: 'retry', meaning: 'A fault of the exporter; its log has it.' },
  overloaded: { status: 503, after: 'retry', meaning: 'Too many requests are under way.' },
  not_ready: { status: 503, after: 'retry', meaning: 'The exporter is starting or stopping.' },
  shutting_down: {
    status: 503,
    after: 'retry',
    meaning: 'The exporter is stopping and takes no more events.',
  },
} as const satisfies Record<string, RefusalSpec>;

export type RefusalId = keyof typeof REFUSALS;

/** What became of a batch: the label `result` of `redis_lock_exporter_batches_total`. All but the first two and `aborted` are refusals. */
export const BATCH_RESULTS = [
  'accepted',
  'duplicate',
  'bad_json',
  'bad_envelope',
  'wrong_store',
  'unauthorized',
  'forbidden',
  'unsupported_media_type',
  'too_large',
  'overloaded',
  'shutting_down',
  'aborted',
  'internal',
] as const;
export type BatchResult = (typeof BATCH_RESULTS)[number];

/** Why an event was rejected: the label `reason` of `redis_lock_exporter_events_rejected_total`. */
export const REJECT_REASONS = [
  'not_an_object',
  'unknown_kind',
  'missing_field',
  'wrong_type',
  'unknown_word',
  'out_of_range',
  'bad_format',
] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];
