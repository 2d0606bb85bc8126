/**
 * Every error that this project throws, by id. An id never changes: it doubles as a label value and as the anchor
 * in the reference. `remedy` says what to do, and names the option where there is one.
 */
export const ERRORS = {
  invalid_option: {
    meaning: 'An option of the client has a value outside its range. Nothing was sent to Redis.',
    remedy: 'Correct the option that the message names.',
  },
  lease_lost: {
    meaning:
      'The lease ended, or the key became another’s, while the work went on. What was written meanwhile is not protected.',
    remedy:
      'Roll back, or refuse late writes by the fence; then raise leaseMs above the P99 of the work, or turn on watchdog.',
  },
  acquire_contended: {
    meaning: 'Another holds the lock.',
    remedy: 'Treat it as a normal answer, or set waitMs to wait for the lock.',
  },
  acquire_timeout: {
    meaning:
      'The lock was not granted within waitMs, or not in time for the deadline, or the reply was slower than the lease.',
    remedy: 'Raise waitMs, shorten the critical section, or split the lock by business id.',
  },
  acquire_aborted: {
    meaning: 'The acquire was given up: by its signal, by load shedding, or because the client is closed.',
    remedy:
      'Nothing to mend where the abort was meant; for load shedding, shorten the work or raise leaseMs.',
  },
  acquire_failed: {
    meaning: 'Redis answered with an error, or could not be reached.',
    remedy: 'Look at reason and cause; the lock was not granted.',
  },
  acquire_unknown: {
    meaning:
      'It is not known whether Redis granted the lock: the reply was lost. A clean-up for the own token was started.',
    remedy: 'Do not start the work. Try again; an orphan, should there be one, ends with its lease.',
  },
  client_closed: {
    meaning: 'The lock client was closed.',
    remedy: 'Make a new client, or close it after the last lock.',
  },
  bad_reply: {
    meaning: 'A lock script answered something that this version does not know.',
    remedy: 'Check that no proxy rewrites replies and that client and lua are of one version.',
  },
  invalid_resource_rule: {
    meaning: 'A resource rule cannot be understood.',
    remedy: 'Write PATTERN=NAME, for example bull:<queue>:*:lock=bull-$queue.',
  },
  config_invalid: {
    meaning: 'The exporter’s configuration has faults; each is listed.',
    remedy: 'Correct each fault; --help shows all options, --check-config checks without starting.',
  },
  listen_failed: {
    meaning: 'The exporter cannot listen on an address.',
    remedy: 'Choose another with --metrics-listen or --local-listen, or end the process that uses it.',
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

export type ErrorId = keyof typeof ERRORS;

/** Base of every error this project throws. The message ends with what to do. */
export class RedisLockError extends Error {
  override readonly name: string = 'RedisLockError';
  readonly id: ErrorId;

  /** @param detail what happened, in one sentence without a full stop; never holds a token or a secret */
  constructor(id: ErrorId, detail: string, options?: { cause?: unknown }) {
    super(`${detail}. ${ERRORS[id].remedy}`, options);
    this.id = id;
  }
}
