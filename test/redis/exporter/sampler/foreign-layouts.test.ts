import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ownerDigest } from '../../../../contract/lock-id.js';
import { createLock, IoredisAdapter } from '../../../peers/redlock-universal.js';
import { type RedisServer, startRedis } from '../../../support/redis-server.js';
import { makeSampler, type TestSampler } from './start-sampler.js';

// Locks as libraries in other languages write them: by the commands of their scripts.

let server: RedisServer;
let redis: Redis;
let made: TestSampler | undefined;

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterEach(async () => {
  await made?.stop();
  await redis.flushall();
});
afterAll(() => server.stop());

/** Name, type, whether it expires, digest of the owner. */
async function sample(...keyPrefixes: string[]) {
  made = makeSampler(server.port, { keyPrefixes });
  await made.sampler.tick();
  return [...made.sampler.locks()]
    .map(({ key, type, leftMs, owner }) => [String(key), type, leftMs !== null, owner])
    .sort();
}

it('redlock-universal: a string with its token', async () => {
  const lock = createLock({ adapter: new IoredisAdapter(redis), key: 'lock:stock:1', ttl: 30_000 });
  const handle = await lock.acquire();
  expect(await sample('lock:')).toEqual([['lock:stock:1', 'string', true, ownerDigest(handle.value)]]);
  await lock.release(handle);
});

it('Redisson: a hash with the count of each holder’s entries; neither the queue nor the times of waiters of a fair lock', async () => {
  const name = 'lock:order:1';
  const holder = '285475da-9152-4c83-822a-67ee2f116a79:52';
  await redis.eval(
    "redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1])",
    1,
    name,
    30_000,
    holder,
  );
  await redis.rpush(`redisson_lock_queue:{${name}}`, 'waiter:1');
  await redis.zadd(`redisson_lock_timeout:{${name}}`, 1, 'waiter:1');
  expect(await sample('lock:')).toEqual([[name, 'hash', true, null]]);
});

it('python-redis-lock: lock:<name> in seconds; not the list that wakes waiters', async () => {
  await redis.set('lock:report', 'f2a1', 'EX', 60, 'NX');
  await redis.lpush('lock-signal:report', '1');
  await redis.pexpire('lock-signal:report', 1000);
  expect(await sample('lock:')).toEqual([['lock:report', 'string', true, ownerDigest('f2a1')]]);
  await made?.stop();
  expect(await sample('lock')).toEqual([['lock:report', 'string', true, ownerDigest('f2a1')]]);
  expect(made?.records.last.ignoredKeys).toBe(1);
});

it('redsync: a string of base64 by SET NX PX', async () => {
  await redis.set('lock:sync', 'qVZb0Fk1WJm4CJq0hF5L3w==', 'PX', 8000, 'NX');
  expect(await sample('lock:')).toEqual([
    ['lock:sync', 'string', true, ownerDigest('qVZb0Fk1WJm4CJq0hF5L3w==')],
  ]);
});

it('ShedLock: job-lock:<environment>:<name> with when and where it was locked', async () => {
  const value = 'ADDED:2026-11-30T16:00:00.000Z@host-1';
  await redis.set('job-lock:default:nightly', value, 'PX', 600_000, 'NX');
  expect(await sample('job-lock:')).toEqual([
    ['job-lock:default:nightly', 'string', true, ownerDigest(value)],
  ]);
  expect([...(made?.records.last.resources.keys() ?? [])]).toEqual(['default']);
});

it('fence keys of this client are no locks, whatever the prefix', async () => {
  await redis.set('app:1', 'token', 'PX', 1000);
  await redis.hset('app:redis-lock-fence:{app:1}', 'f', 'v');
  await redis.set('redis-lock-fence:{app:1}', '1');
  expect(await sample('app:', 're')).toEqual([['app:1', 'string', true, ownerDigest('token')]]);
});

it('what happens to foreign locks is seen without any client: renewed, taken over, released', async () => {
  const names = ['lock:job:1', 'lock:job:2', 'lock:job:3'];
  for (const name of names) await redis.set(name, 'a', 'PX', 30_000);
  made = makeSampler(server.port);
  await made.sampler.tick();
  await redis.pexpire('lock:job:1', 60_000);
  await redis.set('lock:job:2', 'b', 'PX', 30_000);
  await redis.del('lock:job:3');
  await made.sampler.tick();
  expect(made.records.changes.get('job')).toEqual({ renewals: 1, handovers: 1, released: 1, expired: 0 });
});

it('keys that go with a restart of Redis were not released', async () => {
  await redis.set('lock:job:1', 'a', 'PX', 30_000);
  made = makeSampler(server.port, { connection: { commandTimeoutMs: 1000 } });
  await made.sampler.tick();
  await server.kill();
  await server.restart();
  redis = server.client();
  for (let ticks = 0; ticks < 50 && made.records.samples.length < 3; ticks += 1) await made.sampler.tick();
  expect([made.keys(), [...made.records.changes.values()]]).toEqual([[], []]);
});
