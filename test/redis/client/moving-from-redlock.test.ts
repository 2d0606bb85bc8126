import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeRedlock } from '../../peers/redlock.js';
import { makeRedlock4 } from '../../peers/redlock4.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { rushThrough, type Worker } from './moving-support.js';
import { closeClients, realClient } from './real-client.js';

const KEY = 'lock:stock:1';
const LEASE_MS = 30_000;

/** What both versions have in common, in the words of version 5. */
interface OldLibrary {
  acquire(keys: [string], leaseMs: number): PromiseLike<{ value: string; release(): PromiseLike<unknown> }>;
}

interface Retries {
  retryCount: number;
  retryDelay?: number;
  retryJitter?: number;
}

const makeVersion5 = (redis: RedisServer, retries: Retries): Promise<OldLibrary> =>
  makeRedlock([redis.client()], retries);

async function makeVersion4(redis: RedisServer, retries: Retries): Promise<OldLibrary> {
  const old = await makeRedlock4([redis.client()], retries);
  return {
    acquire: async ([key], leaseMs) => {
      const lock = await old.lock(key, leaseMs);
      return { value: lock.value, release: () => lock.unlock() };
    },
  };
}

/** What docs/client.md promises to those who move: in a rolling deployment both exclude each other. */
describe.each([
  ['redlock 5', makeVersion5],
  ['redlock 4', makeVersion4],
] as const)('%s and this client on the same key', (_, makeOld) => {
  let redis: RedisServer;
  let redlock: OldLibrary;

  beforeAll(async () => {
    redis = await startRedis();
    redlock = await makeOld(redis, { retryCount: 0 });
  });
  beforeEach(() => redis.client().flushall());
  afterEach(closeClients);
  afterAll(() => redis?.stop());

  const expired = () =>
    waitFor(async () => (await redis.client().exists(KEY)) === 0, { what: 'the lease to end', everyMs: 5 });

  it('the client waits for a lock of redlock, and gets it when redlock gives it back', async () => {
    const { client } = realClient(redis);
    const old = await redlock.acquire([KEY], LEASE_MS);

    const refused = await client.tryAcquire(KEY, { leaseMs: LEASE_MS });
    const waiting = client.acquire(KEY, { leaseMs: LEASE_MS, waitMs: 5000 });
    await old.release();

    expect(refused).toMatchObject({ outcome: 'contended', leftMs: expect.any(Number) });
    expect((await waiting).isValid()).toBe(true);
  });

  it('redlock is refused a lock of the client, and gets it when the client gives it back', async () => {
    const { client } = realClient(redis);
    const lease = await client.acquire(KEY, { leaseMs: LEASE_MS });

    await expect(redlock.acquire([KEY], LEASE_MS)).rejects.toThrow();
    await lease.release();

    await expect(redlock.acquire([KEY], LEASE_MS)).resolves.toBeDefined();
  });

  it('a late release of redlock does not delete the lock that the client took after it', async () => {
    const { client } = realClient(redis);
    const old = await redlock.acquire([KEY], 30);
    await expired();
    const lease = await client.acquire(KEY, { leaseMs: LEASE_MS });

    await Promise.allSettled([old.release()]);

    expect(await lease.check()).toMatchObject({ outcome: 'held' });
  });

  it('a late release of the client does not delete the lock that redlock took after it, and tells of it', async () => {
    const { client } = realClient(redis);
    const lease = await client.acquire(KEY, { leaseMs: 30 });
    await expired();
    const old = await redlock.acquire([KEY], LEASE_MS);

    expect(await lease.release()).toMatchObject({ outcome: 'stolen' });
    expect(await redis.client().get(KEY)).toBe(old.value);
  });

  it('workers of both pass through one critical section one at a time', async () => {
    const { client } = realClient(redis);
    const patient = await makeOld(redis, { retryCount: -1, retryDelay: 2, retryJitter: 2 });
    const before: Worker = async (work) => {
      const lock = await patient.acquire([KEY], LEASE_MS);
      await work();
      await lock.release();
    };
    const after: Worker = (work) =>
      client.withLock(KEY, { leaseMs: LEASE_MS, waitMs: 20_000, retry: { baseMs: 2, capMs: 4 } }, async () =>
        work(),
      );

    const section = await rushThrough([before, after, before, after], 15);

    expect(section).toEqual({ passes: 60, inside: 0, most: 1 });
  });
});

/** The rows of the table for version 4, each beside what this client does. */
describe('what redlock 4 does, and this client in its place', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  beforeEach(() => redis.client().flushall());
  afterEach(closeClients);
  afterAll(() => redis?.stop());

  it('lock() waits by ten retries, acquire() as long as waitMs says', async () => {
    const { client } = realClient(redis);
    const old = await makeRedlock4([redis.client()]);
    await old.lock(KEY, LEASE_MS);
    const startMs = performance.now();

    await Promise.all([
      expect(Promise.resolve(old.lock(KEY, LEASE_MS))).rejects.toMatchObject({
        name: 'LockError',
        attempts: 11,
      }),
      expect(client.acquire(KEY, { leaseMs: LEASE_MS, waitMs: 2000 })).rejects.toMatchObject({
        reason: 'wait_limit',
      }),
    ]);

    // Ten pauses of 100 to 300 ms.
    expect(performance.now() - startMs).toBeGreaterThan(950);
  });

  it('extend() changes the lock and its end, renew() the lease', async () => {
    const { client } = realClient(redis);
    const old = await makeRedlock4([redis.client()]);
    const lock = await old.lock(KEY, 1000);
    expect(await old.extend(lock, LEASE_MS)).toBe(lock);
    expect(await redis.client().pttl(KEY)).toBeGreaterThan(1000);
    expect(await lock.extend(2 * LEASE_MS)).toBe(lock);
    await old.unlock(lock);

    const lease = await client.acquire(KEY, { leaseMs: 1000 });
    expect(await lease.renew(LEASE_MS)).toMatchObject({ outcome: 'renewed' });
    expect(await redis.client().pttl(KEY)).toBeGreaterThan(1000);
  });

  it('unlock() and extend() reject when the lock is gone, release() and renew() say so', async () => {
    const { client } = realClient(redis);
    const old = await makeRedlock4([redis.client()], { retryCount: 0 });
    const lock = await old.lock(KEY, LEASE_MS);
    const lease = await client.acquire(`${KEY}0`, { leaseMs: LEASE_MS });
    await redis.client().flushall();

    await expect(Promise.resolve(lock.extend(LEASE_MS))).rejects.toMatchObject({ name: 'LockError' });
    await expect(Promise.resolve(lock.unlock())).rejects.toMatchObject({ name: 'LockError' });

    expect(await lease.renew()).toMatchObject({ outcome: 'expired' });
    expect(await lease.release()).toMatchObject({ outcome: 'expired' });
  });
});
