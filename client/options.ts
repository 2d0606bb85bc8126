import type { Clock, Random } from '../contract/clock.js';
import { RedisLockError } from '../contract/errors.js';
import { MAX_DURATION_MS } from '../contract/event.js';
import { MAX_LEASE_MS } from '../contract/outcomes.js';
import type { ResourceRule } from '../contract/resource.js';
import type { LockScripts } from '../lua/scripts.js';
import type { Emitter } from './emitter/emitter.js';
import type { SheddingOptions } from './load-shedding.js';
import type { LockConnection } from './lock-connection.js';
import { DEFAULT_RETRY_BASE_MS, DEFAULT_RETRY_CAP_MS, type RetryOptions } from './retry.js';
import type { FillRandom } from './tokens.js';
import type { OnWarning } from './warnings.js';

/** `maxHoldMs` by default, in leases. */
export const DEFAULT_MAX_HOLD_LEASES = 10;
/** How long the client waits for the answer to one command by default, in ms. */
export const DEFAULT_COMMAND_TIMEOUT_MS = 1000;
/** How long a fence key outlives its last grant by default, in ms. */
export const DEFAULT_FENCE_TTL_MS = 3_600_000;

const MAX_RETRY_MS = 60_000;
const MAX_COMMAND_TIMEOUT_MS = 600_000;
const MAX_FENCE_TTL_MS = 31_622_400_000;

/** Name of a lock as the application knows it: without ioredis's `keyPrefix`. */
export type LockKey = string | Buffer;

/** How one lock is taken. A value outside its range is refused before anything is sent (`invalid_option`). */
export interface AcquireOptions {
  /**
   * How long Redis is asked to keep the lock: an integer, 1 ms to 24 h. Required, here or in `defaults`. Choose it
   * from the P99 of the work plus a margin; it is not the time to wait.
   */
  leaseMs?: number;
  /**
   * How long to wait for the lock, from the call: 0 to 1e10 ms. Default 0: one attempt. A last attempt is made at
   * the limit; its answer may take `REPLY_GRACE_MS` more. Not used by `tryAcquire`.
   */
  waitMs?: number;
  /**
   * When the business is too late: a Date, or wall time in ms. Read once, at the call, and then kept on the
   * monotonic clock. A lock granted later, or with less than `workTimeoutMs` left, is given back: `timeout`, `deadline`.
   */
  deadline?: Date | number;
  /** Ends the waiting (`aborted`, `signal`). What was granted on the way is given back. Never stops a release. */
  signal?: AbortSignal;
  /** Pauses between attempts: full jitter. */
  retry?: RetryOptions;
  /** Renew at a third of the lease until the work settles or `maxHoldMs` is reached. Default false. */
  watchdog?: boolean;
  /** Longest hold, 1 to 1e10 ms from the grant. Default 10 × lease. At this age nothing is renewed any more and the hold counts as lost. */
  maxHoldMs?: number;
  /** Ask for a fencing number. Default true. */
  fence?: boolean;
  /** Longest time the work may take by its own time-outs, 1 to 1e10 ms: compared with the lease, and with `deadline`. */
  workTimeoutMs?: number;
  /** Class of the lock for the metrics, instead of the one that the resource rules give. */
  resource?: string;
}

/** What may be set once for all locks of a client. */
export type AcquireDefaults = Omit<AcquireOptions, 'signal' | 'deadline' | 'resource'>;

/** How a lock client is made. */
export interface LockClientOptions {
  /** ioredis `Redis` or `Cluster`: from `createLockConnection`, or your own (unsafe settings are warned of). */
  redis: LockConnection;
  /** Name of the Redis in metrics and lock ids: 1 to 64 of A-Z a-z 0-9 _ . -. Default `default`. The exporter must know it by the same name. */
  store?: string;
  /** Where the events go. Default: nowhere. */
  emitter?: Emitter;
  /** Maps full keys to resources; first match wins. */
  resourceRules?: readonly ResourceRule[];
  /** Prefixes of lock keys, for keys without a rule. Default `lock:`. */
  keyPrefixes?: readonly string[];
  defaults?: AcquireDefaults;
  /** How long one command is waited for: 1 to 600,000 ms. Default 1000. An answer slower than the lease is no grant, whatever this says. */
  commandTimeoutMs?: number;
  /** How long a fence key outlives its last grant: 1 ms to 366 days. Default 1 h. */
  fenceTtlMs?: number;
  /** Refuse locks of resources whose holds come close to their lease. Default: off. */
  shedding?: SheddingOptions;
  /** Gets each warning once. Default: `process.emitWarning`. */
  onWarning?: OnWarning;
  /** Called for each acquire; links its event to a trace. 1 to 64 visible ASCII characters, else ignored. */
  traceId?: () => string | undefined;
  /** Default: the machine's clock. */
  clock?: Clock;
  /** Chance for the back-off. Default `Math.random`. */
  random?: Random;
  /** Randomness for the owner tokens. Default: the system's generator. */
  fillRandom?: FillRandom;
  /**
   * Whether locks that are taken and given back at the same time may travel to a single server in joint commands.
   * Default true. To be turned off for a proxy that answers INFO and spreads keys over servers without a word.
   */
  jointCommands?: boolean;
  /** The lock scripts. Default: read from the package's files. Clients of one process may share them. */
  scripts?: LockScripts;
}

/** Acquire options after validation, with all defaults in place. */
export interface AcquirePlan {
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly retryBaseMs: number;
  readonly retryCapMs: number;
  readonly watchdog: boolean;
  readonly maxHoldMs: number;
  readonly fence: boolean;
  readonly workTimeoutMs: number | undefined;
  readonly deadline: Date | number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly resource: string | undefined;
}

const NO_OPTIONS: AcquireOptions = Object.freeze({});

/**
 * Checks the options of one acquire. Plain comparisons, no schema: this runs for every lock.
 * @throws RedisLockError `invalid_option`
 */
export function planAcquire(options: AcquireOptions = NO_OPTIONS, defaults: AcquireDefaults): AcquirePlan {
  if (typeof options !== 'object' || options === null)
    throw invalidOption(`options must be an object, not ${show(options)}`);
  const leaseMs = checkLease(pick(options.leaseMs, defaults.leaseMs));
  const retry = pick(options.retry, defaults.retry);
  const retryBaseMs = retry
    ? checkMs('retry.baseMs', retry.baseMs ?? DEFAULT_RETRY_BASE_MS, 1, MAX_RETRY_MS)
    : DEFAULT_RETRY_BASE_MS;
  return {
    leaseMs,
    waitMs: checkMs('waitMs', pick(options.waitMs, defaults.waitMs, 0), 0, MAX_DURATION_MS),
    retryBaseMs,
    retryCapMs: retry
      ? checkMs(
          'retry.capMs',
          retry.capMs ?? Math.max(DEFAULT_RETRY_CAP_MS, retryBaseMs),
          retryBaseMs,
          MAX_RETRY_MS,
        )
      : DEFAULT_RETRY_CAP_MS,
    watchdog: checkFlag('watchdog', pick(options.watchdog, defaults.watchdog, false)),
    maxHoldMs: checkMs(
      'maxHoldMs',
      pick(options.maxHoldMs, defaults.maxHoldMs, leaseMs * DEFAULT_MAX_HOLD_LEASES),
      1,
      MAX_DURATION_MS,
    ),
    fence: checkFlag('fence', pick(options.fence, defaults.fence, true)),
    workTimeoutMs: checkOptionalMs('workTimeoutMs', pick(options.workTimeoutMs, defaults.workTimeoutMs)),
    deadline: checkDeadline(options.deadline),
    signal: checkSignal(options.signal),
    resource: checkResource(options.resource),
  };
}

/**
 * A lease that Redis can be asked for.
 * @throws RedisLockError `invalid_option`
 */
export function checkLease(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_LEASE_MS)
    return value;
  if (value === undefined)
    throw invalidOption('leaseMs is missing: it must be an integer from 1 to 86400000 ms');
  throw invalidOption(`leaseMs must be an integer from 1 to ${MAX_LEASE_MS} ms, not ${show(value)}`);
}

/**
 * Checks the numbers among a client's options, once.
 * @throws RedisLockError `invalid_option`
 */
export function checkClientLimits(options: LockClientOptions): {
  commandTimeoutMs: number;
  fenceTtlMs: number;
} {
  const { commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS, fenceTtlMs = DEFAULT_FENCE_TTL_MS } = options;
  checkMs('fenceTtlMs', fenceTtlMs, 1, MAX_FENCE_TTL_MS);
  if (!Number.isInteger(fenceTtlMs))
    throw invalidOption(`fenceTtlMs must be an integer, not ${show(fenceTtlMs)}`);
  return {
    commandTimeoutMs: checkMs('commandTimeoutMs', commandTimeoutMs, 1, MAX_COMMAND_TIMEOUT_MS),
    fenceTtlMs,
  };
}

/**
 * Checks defaults without a lease of their own, too.
 * @throws RedisLockError `invalid_option`
 */
export function checkDefaults(defaults: AcquireDefaults): void {
  planAcquire(defaults.leaseMs === undefined ? { leaseMs: 1 } : {}, defaults);
}

/** Makes the error for an option out of its range. */
export function invalidOption(detail: string): RedisLockError {
  return new RedisLockError('invalid_option', detail);
}

/** A number of ms between two bounds, both allowed. */
export function checkMs(name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw invalidOption(`${name} must be a number from ${min} to ${max} ms, not ${show(value)}`);
}

/** Undefined means "not given"; null does not: it is a mistake, and told as one. */
function pick<T>(given: T | undefined, byDefault: T | undefined): T | undefined;
function pick<T>(given: T | undefined, byDefault: T | undefined, otherwise: T): T;
function pick<T>(given: T | undefined, byDefault: T | undefined, otherwise?: T): T | undefined {
  if (given !== undefined) return given;
  return byDefault === undefined ? otherwise : byDefault;
}

function checkOptionalMs(name: string, value: unknown): number | undefined {
  return value === undefined ? undefined : checkMs(name, value, 1, MAX_DURATION_MS);
}

function checkFlag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidOption(`${name} must be true or false, not ${show(value)}`);
}

function checkDeadline(value: unknown): Date | number | undefined {
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
  if (value instanceof Date && Number.isFinite(value.getTime())) return value;
  throw invalidOption(`deadline must be a valid Date or a wall time in ms, not ${show(value)}`);
}

function checkSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  // Not instanceof: signals of another realm or of a polyfill are as good.
  const isSignal =
    typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;
  if (isSignal) return value as AbortSignal;
  throw invalidOption(`signal must be an AbortSignal, not ${show(value)}`);
}

function checkResource(value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw invalidOption(`resource must be a text of at least one character, not ${show(value)}`);
}

/** Numbers are shown; of everything else only the type, since it may be anything. */
function show(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (value === '') return 'an empty text';
  return value === null ? 'null' : `a ${typeof value}`;
}
