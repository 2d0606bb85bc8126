import { RedisLockError } from '../contract/errors.js';

/** Start of every fence key's name (after the connection's `keyPrefix`). No lock prefix matches it; samples leave it out. */
export const FENCE_MARKER = 'redis-lock-fence:';

/**
 * Name of the fence key of a lock, as it is to be sent: without `keyPrefix`.
 * @param fullKey the lock key as stored, `keyPrefix` included
 */
export function fenceKey(fullKey: string | Buffer, keyPrefix?: string): string | Buffer;
export function fenceKey(_fullKey: string | Buffer, _keyPrefix = ''): string | Buffer {
  throw new RedisLockError('invalid_option', 'The fence key is not built yet');
}
