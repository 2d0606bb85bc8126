import { createHash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import { type AcquireOptions, type Emitter, LockClient } from '../../client/index.js';
import { makeRedlock } from '../peers/redlock.js';
import { createLock, IoredisAdapter } from '../peers/redlock-universal.js';
import type { Candidate } from './rounds.js';

/** Lease of every lock here. Long: nothing is to expire, and nobody renews. */
const LEASE_MS = 30_000;

/** Name of the lock of one caller. Each has its own, so that nobody waits and only the cost of locking is measured. */
const keyOf = (candidate: string, caller: number) => `lock:${candidate}:${caller}`;

/** What one writes without a library, at its cheapest: SET NX PX, and compare-and-delete by EVALSHA. */
export async function bareCandidate(redis: Redis): Promise<Candidate> {
  const script = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
  const sha = createHash('sha1').update(script).digest('hex');
  await redis.script('LOAD', script);
  return {
    name: 'bare',
    run: async (caller) => {
      const key = keyOf('bare', caller);
      const token = randomUUID();
      expectValue(await redis.set(key, token, 'PX', LEASE_MS, 'NX'), 'OK');
      expectValue(await redis.evalsha(sha, 1, key, token), 1);
    },
  };
}

/** Our client, as the documentation says to use it. */
export function ownCandidate(name: string, redis: Redis, fence: boolean, emitter: Emitter): Candidate {
  const client = new LockClient({ redis, emitter });
  const options: AcquireOptions = { leaseMs: LEASE_MS, fence };
  return {
    name,
    run: async (caller) => {
      const lease = await client.acquire(keyOf(name, caller), options);
      expectValue((await lease.release()).outcome, 'released');
    },
  };
}

export async function redlockCandidate(redis: Redis): Promise<Candidate> {
  const redlock = await makeRedlock([redis]);
  return {
    name: 'redlock',
    run: async (caller) => (await redlock.acquire([keyOf('redlock', caller)], LEASE_MS)).release(),
  };
}

/** Without its refresh timer, which would cost it more. */
export function redisSemaphoreCandidate(redis: Redis): Candidate {
  return {
    name: 'redis-semaphore',
    run: async (caller) => {
      const mutex = new Mutex(redis, keyOf('redis-semaphore', caller), {
        lockTimeout: LEASE_MS,
        refreshInterval: 0,
      });
      await mutex.acquire();
      await mutex.release();
    },
  };
}

/** In its leanest form. */
export function redlockUniversalCandidate(redis: Redis): Candidate {
  const adapter = new IoredisAdapter(redis);
  return {
    name: 'redlock-universal',
    run: async (caller) => {
      const key = keyOf('redlock-universal', caller);
      const lock = createLock({ adapter, key, ttl: LEASE_MS, performance: 'lean' });
      await lock.release(await lock.acquire());
    },
  };
}

function expectValue(actual: unknown, wanted: unknown): void {
  if (actual !== wanted) throw new Error(`a lock of a bench ended in ${String(actual)}`);
}
