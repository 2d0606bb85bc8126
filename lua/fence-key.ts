import { RedisLockError } from '../contract/errors.js';
import { hashTag, keySlot, makeSlotTags } from './key-slot.js';

/** Start of every fence key's name (after the connection's `keyPrefix`). No lock prefix matches it; samples leave it out. */
export const FENCE_MARKER = 'redis-lock-fence:';

const CLOSE = 0x7d;

/** Made at the first name that needs it, and the same whoever makes it. */
let slotTags: string[] | undefined;

/**
 * Name of a lock's fence key, as it is to be sent: without the connection's `keyPrefix`, which ioredis puts before
 * every key. Stored, it hashes to the lock key's cluster slot, whatever the name; distinct locks have distinct
 * fence keys. A Buffer gives a Buffer.
 *
 * The first name with a `}` but no hash tag builds a table of tags (some 20 ms, 400 kB, once in a process).
 *
 * @param fullKey the lock key as stored: `keyPrefix` included
 * @throws RedisLockError `invalid_option` when `keyPrefix` holds a `{` that no tag follows: no name under it could
 *   be steered to a slot
 */
export function fenceKey(fullKey: string, keyPrefix?: string): string;
export function fenceKey(fullKey: Buffer, keyPrefix?: string): Buffer;
export function fenceKey(fullKey: string | Buffer, keyPrefix?: string): string | Buffer;
export function fenceKey(fullKey: string | Buffer, keyPrefix = ''): string | Buffer {
  const prefixHasTag = checkPrefix(keyPrefix);
  if (typeof fullKey === 'string' && isPlain(fullKey) && !prefixHasTag) return `${FENCE_MARKER}{${fullKey}}`;
  const bytes = Buffer.isBuffer(fullKey) ? fullKey : Buffer.from(fullKey);
  const name = prefixHasTag ? Buffer.concat([Buffer.from(FENCE_MARKER), bytes]) : steeredName(bytes);
  return Buffer.isBuffer(fullKey) ? name : name.toString();
}

/** Nearly every name: spares them the way through bytes. */
function isPlain(key: string): boolean {
  return key !== '' && !key.includes('{') && !key.includes('}');
}

/** Whether the prefix holds a hash tag, which then decides on the slot of every key. */
function checkPrefix(keyPrefix: string): boolean {
  if (!keyPrefix.includes('{')) return false;
  if (hashTag(Buffer.from(keyPrefix))) return true;
  throw new RedisLockError(
    'invalid_option',
    'The keyPrefix of the connection holds a "{" without a hash tag, so that fence keys cannot be placed beside their locks',
  );
}

/**
 * A name that begins with a tag for the lock's slot. Only the short form has its single `}` at the end; the long
 * form repeats the key after the tag. So no two keys share a name.
 */
function steeredName(key: Buffer): Buffer {
  const tag = hashTag(key);
  if (tag) return joinName(tag, ':', key);
  if (key.length > 0 && !key.includes(CLOSE)) return joinName(key, '');
  return joinName(Buffer.from(tagForSlot(keySlot(key))), ':', key);
}

function joinName(tag: Buffer, separator: string, key: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${FENCE_MARKER}{`), tag, Buffer.from(`}${separator}`), key]);
}

function tagForSlot(slot: number): string {
  slotTags ??= makeSlotTags();
  return slotTags[slot] ?? '';
}
