import { RedisLockError } from '../../contract/errors.js';
import type { RedisReason } from '../../contract/outcomes.js';
import { reasonOfReply } from '../../contract/redis-reason.js';

/** Words of ioredis for a command that found no connection, or lost it. */
const CONNECTION_LOST =
  /Connection is closed|Stream isn't writeable|aborted due to connection close|max retries|sentinels are unreachable/i;

/** Sorts an error of a Redis connection into the contract's reasons. Never throws. */
export function redisReasonOf(error: unknown): RedisReason {
  if (!(error instanceof Error)) return 'other';
  if (error instanceof RedisLockError) return error.id === 'bad_reply' ? 'bad_reply' : 'script';
  if ('code' in error && typeof error.code === 'string') return 'connection';
  if (CONNECTION_LOST.test(error.message)) return 'connection';
  return /Command timed out/.test(error.message) ? 'command_timeout' : reasonOfReply(error.message);
}
