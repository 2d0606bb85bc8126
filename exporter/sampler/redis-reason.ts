import { RedisLockError } from '../../contract/errors.js';
import type { RedisReason } from '../../contract/outcomes.js';

/** First words of Redis's error replies. */
const BY_WORD: ReadonlyMap<string, RedisReason> = new Map([
  ['READONLY', 'readonly'],
  ['WRONGTYPE', 'wrong_type'],
  ['LOADING', 'loading'],
  ['BUSY', 'busy'],
  ['OOM', 'out_of_memory'],
  ['NOPERM', 'no_permission'],
  ['NOAUTH', 'no_auth'],
  ['WRONGPASS', 'no_auth'],
  ['CLUSTERDOWN', 'cluster_down'],
  ['CROSSSLOT', 'cross_slot'],
  ['MOVED', 'moved'],
  ['ASK', 'moved'],
  ['MASTERDOWN', 'master_down'],
  ['NOREPLICAS', 'no_replicas'],
]);

/** What a script's own commands were refused for, where Redis puts it behind another first word. */
const BY_TEXT: readonly (readonly [RegExp, RedisReason])[] = [
  [/max number of clients/i, 'max_clients'],
  [/invalid password|without any password configured/i, 'no_auth'],
  [/can't run this command|no permissions|can't access at least one of the keys/i, 'no_permission'],
  [/Command timed out/, 'command_timeout'],
  [/script|Lua/i, 'script'],
];

/** Words of ioredis for a command that found no connection, or lost it. */
const CONNECTION_LOST =
  /Connection is closed|Stream isn't writeable|aborted due to connection close|max retries/i;

/** Sorts an error of a Redis connection into the contract's reasons. Never throws. */
export function redisReasonOf(error: unknown): RedisReason {
  if (!(error instanceof Error)) return 'other';
  if (error instanceof RedisLockError) return error.id === 'bad_reply' ? 'bad_reply' : 'script';
  if ('code' in error && typeof error.code === 'string') return 'connection';
  const [word = ''] = error.message.split(' ', 1);
  return BY_WORD.get(word) ?? byText(error.message);
}

function byText(message: string): RedisReason {
  if (CONNECTION_LOST.test(message)) return 'connection';
  return BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? 'other';
}
