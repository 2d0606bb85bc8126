import { type LockOptions, Mutex } from 'redis-semaphore';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { rushThrough, type Worker } from './moving-support.js';
import { closeClients, realClient } from './real-client.js';

/** The name given to redis-semaphore; stored, its keys begin with `mutex:`. */
const NAME = 'stock:1';
const KEY = `mutex:${NAME}`;
const LEASE_MS = 30_000;

/** What docs/client.md promises to those who move: in a rolling deployment both exclude each other. */
describe('redis-semaphore and this client on the same key', () => {
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis();
  });
  beforeEach(() => redis.client().flushall());
  afterEach(closeClients);
  afterAll(() => redis?.stop());

  const makeMutex = (options: LockOptions = {}) =>
    new Mutex(redis.client(), NAME, {
      lockTimeout: LEASE_MS,
      refreshInterval: 0,
      acquireTimeout: 20_000,
      retryInterval: 2,
      ...options,
    });
  const expired = () =>
    waitFor(async () => (await redis.client().exists(KEY)) === 0, { what: 'the lease to end', everyMs: 5 });

  it('the client waits for a lock of redis-semaphore, and gets it when that gives it back', async () => {
    const { client } = realClient(redis);
    const mutex = makeMutex();
    await mutex.acquire();

    const refused = await client.tryAcquire(KEY, { leaseMs: LEASE_MS });
    const waiting = client.acquire(KEY, { leaseMs: LEASE_MS, waitMs: 5000 });
    await mutex.release();

    expect(refused).toMatchObject({ outcome: 'contended', leftMs: expect.any(Number) });
    expect((await waiting).isValid()).toBe(true);
  });

  it('redis-semaphore is refused a lock of the client, and gets it when the client gives it back', async () => {
    const { client } = realClient(redis);
    const lease = await client.acquire(KEY, { leaseMs: LEASE_MS });

    expect(await makeMutex({ acquireAttemptsLimit: 1 }).tryAcquire()).toBe(false);
    await lease.release();

    expect(await makeMutex().tryAcquire()).toBe(true);
  });

  it('a late release of redis-semaphore does not delete the lock that the client took after it', async () => {
    const { client } = realClient(redis);
    const mutex = makeMutex({ lockTimeout: 30 });
    await mutex.acquire();
    await expired();
    const lease = await client.acquire(KEY, { leaseMs: LEASE_MS });

    await mutex.release();

    expect(await lease.check()).toMatchObject({ outcome: 'held' });
  });

  it('a late release of the client does not delete the lock that redis-semaphore took after it, and tells of it', async () => {
    const { client } = realClient(redis);
    const lease = await client.acquire(KEY, { leaseMs: 30 });
    await expired();
    const mutex = makeMutex();
    await mutex.acquire();

    expect(await lease.release()).toMatchObject({ outcome: 'stolen' });
    expect(await redis.client().get(KEY)).toBe(mutex.identifier);
  });

  it('workers of both pass through one critical section one at a time', async () => {
    const { client } = realClient(redis);
    const before: Worker = async (work) => {
      const mutex = makeMutex();
      await mutex.acquire();
      await work();
      await mutex.release();
    };
    const after: Worker = (work) =>
      client.withLock(KEY, { leaseMs: LEASE_MS, waitMs: 20_000, retry: { baseMs: 2, capMs: 4 } }, async () =>
        work(),
      );

    const section = await rushThrough([before, after, before, after], 15);

    expect(section).toEqual({ passes: 60, inside: 0, most: 1 });
  });
});
