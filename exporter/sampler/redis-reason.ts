import { RedisLockError } from '../../contract/errors.js';
import type { RedisReason } from '../../contract/outcomes.js';
import { reasonOfReply } from '../../contract/redis-reason.js';

/** Words of ioredis for a command that found no connection, or lost it. */
const CONNECTION_LOST =
  /Connection is closed|Stream isn't writeable|aborted due to connection close|max retries|sentinels are unreachable/i;

/** What the last Sentinel said, or what its connection met. */
const SENTINELS = /sentinels are unreachable.*Last error: (.+)$/is;

/** Sorts an error of a Redis connection into the contract's reasons. Never throws. */
export function redisReasonOf(error: unknown): RedisReason {
  if (!(error instanceof Error)) return 'other';
  if (error instanceof RedisLockError) return error.id === 'bad_reply' ? 'bad_reply' : 'script';
  if ('code' in error && typeof error.code === 'string') return 'connection';
  const [, ofSentinel] = SENTINELS.exec(error.message) ?? [];
  if (ofSentinel !== undefined) return orConnection(ofWords(ofSentinel));
  return CONNECTION_LOST.test(error.message) ? 'connection' : ofWords(error.message);
}

function orConnection(reason: RedisReason): RedisReason {
  return reason === 'other' ? 'connection' : reason;
}

function ofWords(message: string): RedisReason {
  return /Command timed out/.test(message) ? 'command_timeout' : reasonOfReply(message);
}
