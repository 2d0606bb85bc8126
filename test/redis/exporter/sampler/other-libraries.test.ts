import type { Redis } from 'ioredis';
import { Mutex, Semaphore } from 'redis-semaphore';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ownerDigest } from '../../../../contract/lock-id.js';
import { makeRedlock } from '../../../peers/redlock.js';
import { type RedisServer, startRedis } from '../../../support/redis-server.js';
import { makeSampler, type TestSampler } from './start-sampler.js';

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

async function sample(): Promise<TestSampler> {
  made = makeSampler(server.port);
  await made.sampler.tick();
  return made;
}

it('a lock of redlock is seen with its owner, and gone after its release', async () => {
  const lock = await (await makeRedlock([redis])).acquire(['lock:stock:1'], 30_000);
  const { sampler, records } = await sample();
  expect([...sampler.locks()]).toMatchObject([{ resource: 'stock', owner: ownerDigest(lock.value) }]);
  expect(records.last.resources.get('stock')).toMatchObject({ keys: 1, withoutExpiry: 0 });
  await lock.release();
  await sampler.tick();
  expect([...sampler.locks()]).toEqual([]);
});

it('mutex and semaphore of redis-semaphore are seen under their own keys', async () => {
  // Its keys begin with "mutex:" and "semaphore:", so the prefix of the locks comes after.
  const mutex = new Mutex(redis, 'pay:1', { lockTimeout: 30_000, refreshInterval: 0 });
  const semaphore = new Semaphore(redis, 'pay:2', 2, { lockTimeout: 30_000, refreshInterval: 0 });
  await mutex.acquire();
  await semaphore.acquire();
  made = makeSampler(server.port, { keyPrefixes: ['mutex:', 'semaphore:'] });
  await made.sampler.tick();
  const seen = [...made.sampler.locks()].map(({ key, resource, type }) => [String(key), resource, type]);
  expect(seen.sort()).toEqual([
    ['mutex:pay:1', 'pay', 'string'],
    ['semaphore:pay:2', 'pay', 'zset'],
  ]);
  await mutex.release();
  await semaphore.release();
});

it('SETNX that never got its expiry is a key without expiry', async () => {
  await redis.setnx('lock:stock:7', 'some-token');
  await redis.set('lock:stock:8', 'other-token', 'PX', 5000, 'NX');
  const { records } = await sample();
  expect(records.last.resources.get('stock')).toMatchObject({ keys: 2, withoutExpiry: 1 });
});
