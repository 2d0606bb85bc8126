import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ownerDigest } from '../../../contract/lock-id.js';
import type { SampleReply } from '../../../lua/replies.js';
import { loadLockScripts, type SampleArgs } from '../../../lua/scripts.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { copyKeys, type KeyCopy } from '../../support/sampled-keys.js';
import { bindScripts, makeLock } from './lock-store.js';

/** A script that may not run a command gets another text than a client (7.0), or the same (7.2). */
const REFUSED = /NOPERM|user executing the script/;

const MAX_VALUE_BYTES = 1024;
const defaults: SampleArgs = {
  cursor: '0',
  pattern: 'lock:*',
  count: 100,
  withOwners: true,
  maxValueBytes: MAX_VALUE_BYTES,
  prefixes: [],
};

describe('sample', () => {
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

  const step = (args: Partial<SampleArgs> = {}): Promise<SampleReply> =>
    loadLockScripts().sample(redis, { ...defaults, ...args });

  /** A whole sweep, by key; a key that comes twice is kept once. */
  const sweep = async (args: Partial<SampleArgs> = {}) => {
    const keys = new Map<string, KeyCopy>();
    let cursor = '0';
    let steps = 0;
    do {
      const reply = await step({ ...args, cursor });
      for (const key of copyKeys(reply)) keys.set(key.key.toString('latin1'), key);
      cursor = reply.cursor;
      steps += 1;
    } while (cursor !== '0');
    return { keys, steps };
  };

  it('tells of each lock how long it lives, its type and its owner’s digest', async () => {
    const lock = makeLock('lock:a');
    await bindScripts(redis).acquire(lock.mine);
    await redis.set('lock:for-ever', 'x');
    await redis.hset('lock:hash', 'f', 'v');
    await redis.set('other:a', 'x');
    const { keys } = await sweep();
    expect([...keys.keys()].sort()).toEqual(['lock:a', 'lock:for-ever', 'lock:hash']);
    expect(keys.get('lock:a')).toMatchObject({ type: 'string', owner: ownerDigest(lock.mine.token) });
    const left = keys.get('lock:a')?.leftMs ?? 0;
    expect(left > 0 && left <= 30_000).toBe(true);
    expect(keys.get('lock:for-ever')).toMatchObject({ leftMs: null, owner: ownerDigest('x') });
    expect(keys.get('lock:hash')).toMatchObject({ leftMs: null, type: 'hash', owner: null });
  });

  it('reads no values when owners are not asked for', async () => {
    await redis.set('lock:a', 'token', 'PX', 30_000);
    const { keys } = await sweep({ withOwners: false });
    expect(keys.get('lock:a')).toMatchObject({ leftMs: expect.any(Number), type: null, owner: null });
    expect(await redis.info('commandstats')).not.toMatch(/cmdstat_(get|getrange|type):/);
  });

  it('gives the server’s time', async () => {
    const [seconds] = await redis.time();
    const { serverUs } = await step();
    expect(Math.abs(serverUs / 1_000_000 - Number(seconds))).toBeLessThan(60);
  });

  it('keeps binary names byte for byte', async () => {
    const names = [Buffer.from([0x6c, 0xff, 0x00, 0x20, 0x0a]), Buffer.from([0x6c, 0x80])];
    for (const name of names) await redis.set(name, 'x');
    const { keys } = await sweep({ pattern: Buffer.from('l*') });
    expect([...keys.values()].map(({ key }) => key).sort(Buffer.compare)).toEqual(names.sort(Buffer.compare));
    expect((await sweep({ pattern: Buffer.from([0x6c, 0x80, 0x2a]) })).keys.size).toBe(1);
  });

  it('tells of several thousand keys in one step', async () => {
    const names = Array.from({ length: 3500 }, (_, at) => `lock:${'x'.repeat(at % 40)}${at}`);
    await redis.mset(names.flatMap((name) => [name, name]));
    const reply = await step({ count: 1_000_000 });
    const seen = copyKeys(reply).map(({ key, owner }) => [String(key), owner]);
    expect([reply.cursor, seen.sort()]).toEqual(['0', names.map((name) => [name, ownerDigest(name)]).sort()]);
  });

  it('leaves out fence keys even where the pattern matches them', async () => {
    await bindScripts(redis).acquire(makeLock('lock:a').mine);
    expect([...(await sweep({ pattern: '*' })).keys.keys()]).toEqual(['lock:a']);
  });

  it('reads no value beyond the limit, and no more than the limit of a huge one', async () => {
    await redis.set('lock:largest', 'x'.repeat(MAX_VALUE_BYTES));
    await redis.set('lock:larger', 'x'.repeat(MAX_VALUE_BYTES + 1));
    await redis.set('lock:huge', 'x'.repeat(8_000_000));
    await redis.set('lock:empty', '');
    const { keys } = await sweep();
    expect(keys.get('lock:largest')?.owner).toBe(ownerDigest('x'.repeat(MAX_VALUE_BYTES)));
    expect(keys.get('lock:larger')).toMatchObject({ type: 'string', owner: null });
    expect(keys.get('lock:huge')).toMatchObject({ type: 'string', owner: null });
    expect(keys.get('lock:empty')?.owner).toBe(ownerDigest(''));
  });

  it('finds each of 5,000 keys of mixed types, with at most one WRONGTYPE counted by the server in a step', async () => {
    const pipeline = redis.pipeline();
    for (let at = 0; at < 5000; at += 1) {
      if (at % 3) pipeline.set(`lock:${at}`, randomBytes(8).toString('hex'), 'PX', 60_000);
      else pipeline.hset(`lock:${at}`, 'f', 'v');
    }
    await pipeline.exec();
    await redis.config('RESETSTAT');
    const { keys, steps } = await sweep();
    expect(keys.size).toBe(5000);
    for (const [name, key] of keys) {
      const isHash = Number(name.slice('lock:'.length)) % 3 === 0;
      expect(key).toMatchObject(
        isHash ? { type: 'hash', owner: null } : { type: 'string', owner: expect.any(String) },
      );
    }
    const errors = /errorstat_WRONGTYPE:count=(\d+)/.exec(await redis.info('errorstats'))?.[1];
    expect(Number(errors ?? 0)).toBeLessThanOrEqual(steps);
  });

  it('of locks that are all hashes (as Redisson’s) counts no errors in the server', async () => {
    for (let at = 0; at < 50; at += 1) await redis.hset(`lock:${at}`, 'f', 'v');
    await redis.config('RESETSTAT');
    expect((await sweep()).keys.size).toBe(50);
    expect(await redis.info('errorstats')).not.toContain('errorstat_');
  });

  it('looks only at keys with one of the prefixes, whatever bytes they hold', async () => {
    const prefixes = [Buffer.from('lock:'), Buffer.from([0x62, 0x00, 0xff, 0x31, 0x3a])];
    const binary = Buffer.concat([prefixes[1] ?? Buffer.alloc(0), Buffer.from('x')]);
    for (const name of [Buffer.from('lock:a'), binary, Buffer.from('lulk:b'), Buffer.from('bock:c')]) {
      await redis.set(name, 'v');
    }
    await redis.config('RESETSTAT');
    const { keys } = await sweep({ pattern: '*', prefixes });
    expect([...keys.keys()].sort()).toEqual([binary.toString('latin1'), 'lock:a']);
    const stats = await redis.info('commandstats');
    expect([
      /cmdstat_pttl:calls=(\d+)/.exec(stats)?.[1],
      /cmdstat_getrange:calls=(\d+)/.exec(stats)?.[1],
    ]).toEqual(['2', '2']);
  });

  it('refuses prefixes that are not whole', async () => {
    for (const prefixes of ['5:lock', 'lock:', '5lock:']) {
      const args = ['0', '*', '10', '0', '0', prefixes];
      const { sample } = loadLockScripts();
      const lying = {
        callBuffer: (command: string, first: string) => redis.callBuffer(command, first, 0, ...args),
      };
      await expect(sample(lying as never, defaults)).rejects.toMatchObject({ id: 'invalid_option' });
    }
  });

  it('of no keys, and from a cursor beyond 2^53, answers', async () => {
    const reply = await step();
    expect(reply).toMatchObject({ cursor: '0', vanished: 0, moved: 0 });
    expect(copyKeys(reply)).toEqual([]);
    expect((await step({ cursor: '18446744073709551615' })).cursor).toMatch(/^\d+$/);
  });

  it('leaves the keys as they are', async () => {
    await redis.set('lock:a', 'x', 'PX', 30_000);
    await sweep();
    expect(await redis.get('lock:a')).toBe('x');
    expect(await redis.pttl('lock:a')).toBeGreaterThan(0);
  });

  it('runs on a full server, on a replica, and after SCRIPT FLUSH', async () => {
    await redis.set('lock:a', 'x');
    await redis.script('FLUSH');
    await redis.config('SET', 'maxmemory', '1');
    await redis.replicaof('127.0.0.1', 1);
    expect((await sweep()).keys.size).toBe(1);
    await redis.replicaof('NO', 'ONE');
    await redis.config('SET', 'maxmemory', '0');
  });

  it.each([
    { count: 0 },
    { count: 1_000_001 },
    { count: 1.5 },
    { cursor: 'x' },
    { cursor: '' },
    { maxValueBytes: -1 },
    { maxValueBytes: 1_048_577 },
  ])('refuses %j', async (args) => {
    await expect(step(args)).rejects.toMatchObject({ id: 'invalid_option' });
  });

  it('passes Redis’s refusal through', async () => {
    await redis.acl('SETUSER', 'scanner', 'on', '>word', '~*', '+@all', '-pttl');
    const scanner = server.client({ username: 'scanner', password: 'word' });
    await redis.set('lock:a', 'x');
    await expect(loadLockScripts().sample(scanner, defaults)).rejects.toThrow(REFUSED);
  });
});
