import { fileURLToPath } from 'node:url';
import { Mutex } from 'redis-semaphore';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRedlock } from '../peers/redlock.js';
import { createLock, IoredisAdapter } from '../peers/redlock-universal.js';
import { sumOf } from '../support/exporter-process.js';
import { type ChildHandle, spawnChild } from '../support/processes.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { requireBinary } from '../support/require-binary.js';
import { waitFor } from '../support/wait-for.js';

const START = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));
const TTL_MS = 60_000;

/** The sampled half on a server where others take their locks, with no code of ours in them. */
describe('npm start with REDIS_URL', () => {
  let redis: RedisServer;
  let exporter: ChildHandle;
  let page: () => Promise<string>;

  beforeAll(async () => {
    redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    const args = [
      START,
      '--metrics-listen',
      '127.0.0.1:0',
      '--local-listen',
      '127.0.0.1:0',
      '--sample-schedule',
      '* * * * * *',
    ];
    exporter = await spawnChild(process.execPath, { args, env });
    const { metrics } = JSON.parse(
      await exporter.stdout.next(/"msg":"listening"/, { timeoutMs: 60_000 }),
    ) as { metrics: string };
    page = async () => (await fetch(`${metrics}/metrics`)).text();
  });

  afterAll(async () => {
    await exporter?.stop(15_000);
    await redis?.stop();
  });

  const keys = async (resource: string, family = 'redis_lock_keys') =>
    sumOf(await page(), family, { resource });
  const shown = (resource: string, count: number | undefined) =>
    waitFor(async () => (await keys(resource)) === count, {
      what: `${String(count)} keys of ${resource}`,
      timeoutMs: 10_000,
    });

  it('shows the locks that redis-cli takes, those without expiry counted apart', async () => {
    const cli = async (...args: string[]) => {
      const child = await spawnChild(requireBinary('redis-cli', 'redis-tools'), {
        args: ['-p', `${redis.port}`, ...args],
      });
      await child.exited;
      return child.stdout.text();
    };
    expect(await cli('SET', 'lock:cli:1', 'token', 'NX', 'PX', `${TTL_MS}`)).toBe('OK');
    expect(await cli('SETNX', 'lock:cli:2', 'token')).toMatch(/1/);
    await shown('cli', 2);
    expect(await keys('cli', 'redis_lock_keys_without_expiry')).toBe(1);
    await cli('DEL', 'lock:cli:1', 'lock:cli:2');
    await shown('cli', undefined);
  });

  it('shows the locks of redlock', async () => {
    const redlock = await makeRedlock([redis.client()]);
    const lock = await redlock.acquire(['lock:redlock:1'], TTL_MS);
    await shown('redlock', 1);
    await lock.release();
    await shown('redlock', undefined);
  });

  it('shows the locks of redis-semaphore', async () => {
    // It puts "mutex:" before the name of the lock, so its prefix is not ours; the key is what is sampled.
    const client = redis.client({ keyPrefix: 'lock:semaphore:' });
    const mutex = new Mutex(client, '1', { lockTimeout: TTL_MS });
    await mutex.acquire();
    await shown('semaphore', 1);
    await mutex.release();
    await shown('semaphore', undefined);
  });

  it('shows the locks of redlock-universal', async () => {
    const lock = createLock({
      adapter: new IoredisAdapter(redis.client() as never),
      key: 'lock:universal:1',
      ttl: TTL_MS,
    });
    const handle = await lock.acquire();
    await shown('universal', 1);
    await lock.release(handle);
    await shown('universal', undefined);
  });

  it('says that Redis is up, and ends in order, also when a terminal and npm both pass one Ctrl-C on', async () => {
    expect(sumOf(await page(), 'redis_lock_up')).toBe(1);
    const [exit] = await Promise.all([exporter.kill('SIGINT'), exporter.kill('SIGINT')]);
    expect(exit).toEqual({ code: 0, signal: null });
  });
});
