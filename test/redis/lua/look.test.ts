import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ownerDigest } from '../../../contract/lock-id.js';
import { loadLockScripts } from '../../../lua/scripts.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';

const MAX_VALUE_BYTES = 1024;

describe('look', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = server.client();
  });
  beforeEach(async () => {
    await redis.flushall();
    await redis.config('RESETSTAT');
  });
  afterAll(() => server?.stop());

  const look = async (names: readonly (string | Buffer)[], maxValueBytes = MAX_VALUE_BYTES) => {
    const keys = names.map((name) => Buffer.from(name as string));
    const reply = await loadLockScripts().look(redis, { keys, maxValueBytes });
    const seen: unknown[] = [];
    reply.keys.forEach(({ isGone, leftMs, type, owner }) => {
      seen.push(isGone ? 'gone' : { leftMs, type, owner });
    });
    return { ...reply, seen };
  };

  it('tells of each key by name how long it lives and whose it is, in the order asked', async () => {
    const binary = Buffer.from([0x6c, 0xff, 0x00, 0x20, 0x0a]);
    await redis.set(binary, 'token');
    await redis.set('lock:b', 'x'.repeat(MAX_VALUE_BYTES + 1));
    await redis.hset('lock:c', 'f', 'v');
    const { seen, serverUs } = await look(['lock:none', binary, 'lock:b', '', 'lock:c', binary]);
    const token = { leftMs: null, type: 'string', owner: ownerDigest('token') };
    const large = { leftMs: null, type: 'string', owner: null };
    expect(seen).toEqual(['gone', token, large, 'gone', { leftMs: null, type: 'hash', owner: null }, token]);
    const [seconds] = await redis.time();
    expect(Math.abs(serverUs / 1_000_000 - Number(seconds))).toBeLessThan(60);
  });

  it('counts what a key still lives from its own moment', async () => {
    await redis.set('lock:a', 'token', 'PX', 60_000);
    const { seen } = await look(['lock:a']);
    expect(seen).toEqual([{ leftMs: expect.any(Number), type: 'string', owner: ownerDigest('token') }]);
    const [{ leftMs }] = seen as [{ leftMs: number }];
    expect(leftMs > 50_000 && leftMs <= 60_000).toBe(true);
  });

  it('asks for one type in a look at many strings, and counts no errors of hashes', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `lock:${at}`);
    await redis.mset(names.flatMap((name) => [name, 'v']));
    await redis.config('RESETSTAT');
    expect((await look(names)).seen).toHaveLength(100);
    const stats = await redis.info('commandstats');
    expect(/cmdstat_type:calls=(\d+)/.exec(stats)?.[1]).toBe('1');
    await redis.del(...names);
    for (const name of names) await redis.hset(name, 'f', 'v');
    await redis.config('RESETSTAT');
    await look(names);
    expect(await redis.info('errorstats')).not.toContain('errorstat_');
  });

  it('of no keys answers', async () => {
    expect((await look([])).seen).toEqual([]);
  });

  it.each([-1, 1.5, 1_048_577])('refuses to read %d bytes', async (maxValueBytes) => {
    await expect(look(['lock:a'], maxValueBytes)).rejects.toMatchObject({ id: 'invalid_option' });
  });

  it('refuses names that are not whole', async () => {
    const [length, name] = [Buffer.from([5, 0, 0, 0]), Buffer.from('lock')];
    for (const names of [Buffer.concat([length, name]), length.subarray(0, 3), name]) {
      const lying = {
        callBuffer: (command: string, first: string) => redis.callBuffer(command, first, 0, 0, names),
      };
      const args = { keys: [], maxValueBytes: 0 };
      await expect(loadLockScripts().look(lying as never, args)).rejects.toMatchObject({
        id: 'invalid_option',
      });
    }
  });
});
