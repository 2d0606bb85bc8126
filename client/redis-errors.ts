import { RedisLockError } from '../contract/errors.js';
import type { RedisReason } from '../contract/outcomes.js';
import { reasonOfReply } from '../contract/redis-reason.js';

/** What an error says about the command that met it. */
export interface RedisFailure {
  readonly reason: RedisReason;
  /** True: Redis did not carry it out. False: it may have, or may still (ioredis keeps timed-out commands). */
  readonly notDone: boolean;
  readonly cause: unknown;
}

/** After these, trying again cannot help before somebody changes something. */
const FINAL: ReadonlySet<RedisReason> = new Set<RedisReason>([
  'wrong_type',
  'no_permission',
  'no_auth',
  'cross_slot',
  'moved',
  'script',
  'bad_reply',
]);

/** ioredis's own errors that are raised before anything is written or queued. */
const NEVER_WRITTEN = /enableOfflineQueue options is false/;
const CONNECTION_TEXT =
  /connection is closed|connection close|enableOfflineQueue|max retries per request|cluster redirections|slots cache|startup nodes|sentinels|socket|connect|cluster is|disconnect|subscriber mode/i;

/** What Redis is called when a lock or fence key holds another type. */
export const WRONG_TYPE: RedisFailure = { reason: 'wrong_type', notDone: true, cause: undefined };

/** The connection broke between a send and its answer. */
export const LOST_ANSWER: RedisFailure = { reason: 'connection', notDone: false, cause: undefined };

/** True when a later attempt may succeed by itself. */
export function isTransient(reason: RedisReason): boolean {
  return !FINAL.has(reason);
}

/** The client's own time limit for a command passed. */
export function commandTimedOut(limitMs: number): RedisFailure {
  const cause = new Error(`Redis did not answer within ${Math.round(limitMs)} ms`);
  return { reason: 'command_timeout', notDone: false, cause };
}

/** The connection did not become ready in time, so nothing was sent. `error`: why, where ioredis told it. */
export function connectionNotReady(limitMs: number, error?: Error): RedisFailure {
  if (error !== undefined) return { ...explainFailure(error), notDone: true };
  const cause = new Error(
    `The connection to Redis was not ready within ${Math.round(limitMs)} ms; nothing was sent`,
  );
  return { reason: 'connection', notDone: true, cause };
}

/** The connection was closed for good, so nothing was sent. */
export function connectionEnded(): RedisFailure {
  return { reason: 'connection', notDone: true, cause: new Error('The connection to Redis is closed') };
}

/** Maps whatever a command rejected with, from Redis or from ioredis, to the contract's reasons. Never throws. */
export function explainFailure(error: unknown): RedisFailure {
  const cause = withoutArguments(error);
  if (!(error instanceof Error)) return { reason: 'other', notDone: false, cause };
  if (error instanceof RedisLockError) return explainOwn(error, cause);
  if (error.name === 'ReplyError') return explainReply(error.message, cause);
  if (error.name === 'ParserError') return { reason: 'bad_reply', notDone: false, cause };
  if (/timed out/i.test(error.message)) return { reason: 'command_timeout', notDone: false, cause };
  return explainTransport(error, cause);
}

function explainOwn(error: RedisLockError, cause: unknown): RedisFailure {
  return error.id === 'bad_reply'
    ? { reason: 'bad_reply', notDone: false, cause }
    : { reason: 'script', notDone: true, cause };
}

/** Redis answered. Only a script that died half way may have written something. */
function explainReply(message: string, cause: unknown): RedisFailure {
  const reason = reasonOfReply(message);
  return { reason, notDone: reason !== 'script', cause };
}

/** ioredis gave up: the command may be written already, or still be in one of its queues. */
function explainTransport(error: Error, cause: unknown): RedisFailure {
  const hidden = replyInside(error.message);
  if (hidden !== undefined) return { reason: hidden, notDone: false, cause };
  const isSystemError = 'code' in error && typeof error.code === 'string';
  const isConnection =
    isSystemError ||
    CONNECTION_TEXT.test(error.message) ||
    /RetriesPerRequest|Cluster|Abort/.test(error.name);
  return { reason: isConnection ? 'connection' : 'other', notDone: NEVER_WRITTEN.test(error.message), cause };
}

/** "Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN ..." */
function replyInside(message: string): RedisReason | undefined {
  const code = /Last error: ReplyError: ([A-Z]+)/.exec(message)?.[1];
  return code === undefined ? undefined : reasonOfReply(code);
}

/**
 * ioredis hangs the command with all its arguments, the owner token among them, on the error; and some replies
 * repeat arguments. A copy without both goes to the caller, since errors end up in logs.
 */
function withoutArguments(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RedisLockError) return error;
  const copy = new Error(error.message.replace(/,? with args beginning with:.*$/s, ''));
  copy.name = error.name;
  if ('code' in error) Object.assign(copy, { code: error.code });
  return copy;
}
