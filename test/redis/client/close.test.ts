import { afterEach, beforeEach, expect, it } from 'vitest';
import { createInProcessEmitter, LockClient, type LockEvent } from '../../../client/index.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { within } from '../../support/wait-for.js';

let server: RedisServer;

beforeEach(async () => {
  server = await startRedis();
});
afterEach(async () => {
  await server.stop();
});

it('a command under way keeps its time limit when the client is closed before it ends', async () => {
  const locks = new LockClient({ redis: server.client(), commandTimeoutMs: 2000, onWarning: () => {} });
  const lease = await locks.acquire('lock:a', { leaseMs: 60_000 });
  const other = await locks.acquire('lock:b', { leaseMs: 60_000 });
  await server.pause();
  const released = lease.release();
  await locks.close(50);
  await expect(within(released, 15_000, 'the release to end')).resolves.toMatchObject({ outcome: 'unknown' });
  await expect(within(other.check(), 15_000, 'the check to end')).resolves.toMatchObject({
    outcome: 'ended',
  });
  // Its limit began a moment later.
  await within(other.release(), 15_000, 'the other release to end');
  expect(locks.stats.held).toBe(0);
  await server.resume();
});

it('thousands of held locks are all given back, each with its event', async () => {
  const events: LockEvent[] = [];
  const emitter = createInProcessEmitter((batch) => void events.push(...batch), { queueLimit: 50_000 });
  const locks = new LockClient({ redis: server.client(), emitter, onWarning: () => {} });
  const count = 5000;
  for (let at = 0; at < count; at += 250) {
    const keys = Array.from({ length: 250 }, (_, n) => `lock:a:${at + n}`);
    await Promise.all(keys.map((key) => locks.acquire(key, { leaseMs: 60_000 })));
  }
  await locks.close(20_000);
  const releases = events.flatMap((event) => (event.kind === 'release' ? [event.outcome] : []));
  expect(releases).toHaveLength(count);
  expect(new Set(releases)).toEqual(new Set(['released']));
  expect(locks.stats).toMatchObject({ held: 0, cleanUps: 0, cleanUpsDropped: 0 });
  const left = await server.client().keys('lock:*');
  expect(left).toEqual([]);
});
