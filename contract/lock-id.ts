import crypto, { createHash } from 'node:crypto';

/** Number of hex digits in a lock id and in an owner digest: 64 bits, enough for any set of locks one Redis holds. */
export const DIGEST_DIGITS = 16;

/**
 * The name of a lock outside this process: the first 16 hex digits of SHA-256 over the store's name, a zero
 * byte and the bytes of the key as Redis stores it (an ioredis `keyPrefix` included).
 *
 * A string key is taken as UTF-8. The zero byte keeps ("a", "bc") and ("ab", "c") apart: a store's name has none.
 */
export function lockId(store: string, key: string | Uint8Array): string {
  return createHash('sha256').update(store).update('\0').update(key).digest('hex').slice(0, DIGEST_DIGITS);
}

/**
 * The name of an owner outside this process: the first 16 hex digits of SHA-1 over its token. SHA-1 because
 * Redis can compute it (`redis.sha1hex`), so that sampler and client name an owner alike; the token has at
 * least 128 random bits, so the digest gives nothing away.
 */
export function ownerDigest(token: string | Uint8Array): string {
  return sha1(token).slice(0, DIGEST_DIGITS);
}

/** `hash` takes a third of the time, which shows since every lock needs one; Node has it from 20.12 on. */
function sha1(token: string | Uint8Array): string {
  if (crypto.hash === undefined) return createHash('sha1').update(token).digest('hex');
  return crypto.hash('sha1', token, 'hex');
}
