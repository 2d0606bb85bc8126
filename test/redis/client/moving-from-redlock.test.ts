import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeRedlock, type Redlock } from '../../peers/redlock.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { rushThrough, type Worker } from './moving-support.js';
import { closeClients, realClient } from './real-client.js';

const KEY = 'lock:stock:1';
const LEASE_MS = 30_000;

/** What docs/client.md promises to those who move: in a rolling deployment both exclude each other. */
describe('redlock and this client on the same key', () => {
  let redis: RedisServer;
  let redlock: Redlock;

  beforeAll(async () => {
    redis = await startRedis();
    redlock = await makeRedlock([redis.client()], { retryCount: 0 });
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

    await old.release().catch(() => {});

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
    const patient = await makeRedlock([redis.client()], { retryCount: -1, retryDelay: 2, retryJitter: 2 });
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
