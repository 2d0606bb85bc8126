import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockId, ownerDigest } from '../../../../contract/lock-id.js';
import { type RedisServer, startRedis } from '../../../support/redis-server.js';
import { waitFor } from '../../../support/wait-for.js';
import { makeSampler, type TestSampler, type TestSamplerOptions } from './start-sampler.js';

let server: RedisServer;
let redis: Redis;
const samplers: TestSampler[] = [];

function make(options: TestSamplerOptions = {}): TestSampler {
  const made = makeSampler(server.port, options);
  samplers.push(made);
  return made;
}

beforeAll(async () => {
  server = await startRedis({ args: ['--enable-debug-command', 'yes'] });
  redis = server.client();
});
beforeEach(() => redis.flushall());
afterEach(async () => {
  for (const made of samplers.splice(0)) await made.stop();
});
afterAll(() => server.stop());

describe.each(['script', 'commands'] as const)('by %s', (by) => {
  it('a lock shows its id, resource, life left and owner', async () => {
    await redis.set('lock:stock:1', 'token', 'PX', 60_000, 'NX');
    const { sampler, records } = make({ by });
    await sampler.tick();
    const [lock] = [...sampler.locks()];
    expect(lock).toMatchObject({
      lock: lockId('test', 'lock:stock:1'),
      resource: 'stock',
      type: 'string',
      owner: ownerDigest('token'),
    });
    expect(lock?.leftMs).toBeGreaterThan(50_000);
    expect(lock?.leftMs).toBeLessThanOrEqual(60_000);
    const { resources, truncated } = records.last;
    expect(truncated).toBe(false);
    expect(resources.get('stock')).toMatchObject({ keys: 1, withoutExpiry: 0 });
    const leftMs = (resources.get('stock')?.earliestExpiryMs ?? 0) - Date.now();
    expect(leftMs).toBeGreaterThan(50_000);
    expect(leftMs).toBeLessThanOrEqual(60_000);
  });

  it('strings, hashes and sorted sets are locks, with and without expiry; lists, sets and streams are not (B4)', async () => {
    await redis.set('lock:s:1', 'a');
    await redis.hset('lock:h:1', 'field', '1');
    await redis.pexpire('lock:h:1', 60_000);
    await redis.rpush('lock:l:1', 'x');
    await redis.sadd('lock:set:1', 'x');
    await redis.zadd('lock:z:1', 1, 'x');
    await redis.xadd('lock:x:1', '*', 'f', 'v');
    const { sampler, records } = make({ by });
    await sampler.tick();
    const types = [...sampler.locks()].map(({ type, owner, resource, leftMs }) => [
      resource,
      type,
      owner !== null,
      leftMs !== null,
    ]);
    expect(types.sort()).toEqual([
      ['h', 'hash', false, true],
      ['s', 'string', true, false],
      ['z', 'zset', false, false],
    ]);
    expect(records.last.ignoredKeys).toBe(3);
    expect(records.last.resources.get('s')).toEqual({
      resource: 's',
      keys: 1,
      withoutExpiry: 1,
      oldestHoldS: expect.any(Number),
    });
    expect(records.errors).toEqual([]);
  });

  it('names are bytes: a key that is no UTF-8 keeps its own id', async () => {
    const key = Buffer.concat([Buffer.from('lock:bin:'), Buffer.from([0xff, 0x00, 0xfe, 0x0a])]);
    await redis.set(key, 'a', 'PX', 60_000);
    const { sampler } = make({ by });
    await sampler.tick();
    const [lock] = [...sampler.locks()];
    expect([lock?.key, lock?.lock]).toEqual([key, lockId('test', key)]);
  });

  it('a value beyond 1 KiB has no owner and is not read whole', async () => {
    await redis.set('lock:big', 'x'.repeat(1025));
    await redis.set('lock:fit', 'x'.repeat(1024));
    const { sampler } = make({ by });
    await sampler.tick();
    const owners = new Map([...sampler.locks()].map(({ key, owner }) => [String(key), owner]));
    expect(owners.get('lock:big')).toBeNull();
    expect(owners.get('lock:fit')).toBe(ownerDigest('x'.repeat(1024)));
  });

  it.each([
    ['lock[1]:', ['lock[1]:a'], ['lock1:a', 'lock[1]a']],
    ['lo?k:', ['lo?k:a'], ['lock:a']],
    ['lock*:', ['lock*:a'], ['lockx:a', 'lock:a']],
    ['lock\\:', ['lock\\:a'], ['lock:a']],
    ['l[^a]-z:', ['l[^a]-z:1'], ['lb-z:1']],
    ['schloß:', ['schloß:a'], ['schlos:a']],
  ])('the prefix %s stands for itself (B12)', async (prefix, wanted, others) => {
    for (const key of [...wanted, ...others]) await redis.set(key, 'v');
    const { sampler, keys } = make({ by, keyPrefixes: [prefix] });
    await sampler.tick();
    expect(keys()).toEqual(wanted);
  });

  it('several prefixes are found in one pass, and nothing between them', async () => {
    for (const key of ['lock:a', 'lease:b', 'lxx:c', 'other:d']) await redis.set(key, 'v');
    const { sampler, keys } = make({ by, keyPrefixes: ['lock:', 'lease:'] });
    await sampler.tick();
    expect(keys()).toEqual(['lease:b', 'lock:a']);
  });

  it('released locks are gone after the next sweep (B7)', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `lock:r${at}:1`);
    await redis.mset(names.flatMap((name) => [name, 'v']));
    const { sampler, records, keys } = make({ by });
    await sampler.tick();
    expect(records.last.resources.size).toBe(50);
    await redis.del(...names.slice(1));
    await sampler.tick();
    expect(keys()).toEqual(['lock:r0:1']);
    expect([...records.last.resources.keys()]).toEqual(['r0']);
  });

  it('an empty Redis is a good sample of nothing, not a missing one', async () => {
    const { sampler, records } = make({ by });
    await sampler.tick();
    expect([records.up, records.last.resources.size]).toEqual(['ok', 0]);
  });

  it('the database of the URL is looked at, also after a reconnect (B5)', async () => {
    const third = server.client({ db: 3 });
    await third.set('lock:three', 'v');
    await redis.set('lock:zero', 'v');
    const { sampler, records, keys } = make({ by, connection: { db: 3 } });
    await sampler.tick();
    expect(keys()).toEqual(['lock:three']);
    third.disconnect();
    const idInThird = async () => {
      const lines = String(await redis.call('CLIENT', 'LIST')).split('\n');
      return lines.filter((line) => line.includes(' db=3 ')).map((line) => /id=(\d+)/.exec(line)?.[1])[0];
    };
    const before = await idInThird();
    await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    const again = async () => {
      await sampler.tick();
      return records.up === 'ok' && ![undefined, before].includes(await idInThird());
    };
    await waitFor(again, { what: 'a sample by a new connection' });
    expect(keys()).toEqual(['lock:three']);
  });
});

it('the age of a hold counts from its first sight, and anew for the next owner', async () => {
  await redis.set('lock:a', 'one');
  const { sampler } = make();
  const firstSeen = async () => {
    await sampler.tick();
    return [...sampler.locks()][0]?.firstSeenUs ?? 0;
  };
  const first = await firstSeen();
  expect(await firstSeen()).toBe(first);
  await redis.set('lock:a', 'two');
  expect(await firstSeen()).toBeGreaterThan(first);
});

it('a sweep looks at every key, whatever the size of the steps, and counts none twice (B1, B2)', async () => {
  const names = Array.from({ length: 20_000 }, (_, at) => (at % 4 === 0 ? `lock:n:${at}` : `other:${at}`));
  await redis.mset(names.flatMap((name) => [name, 'v']));
  const { sampler, records } = make();
  await sampler.tick();
  expect(records.last.resources.get('n')?.keys).toBe(5000);
  expect(sampler.state().last).toMatchObject({ keys: 5000, known: 5000, truncated: false });
  expect(sampler.state().last?.steps).toBeGreaterThan(5);
});

it('a table that shrinks during a sweep makes no key count twice (B1)', async () => {
  const names = Array.from({ length: 30_000 }, (_, at) => `lock:n:${at}`);
  await redis.mset(names.flatMap((name) => [name, 'v']));
  const { sampler, records } = make();
  const sweep = sampler.tick();
  await redis.del(...names.slice(500));
  await sweep;
  const { keys, known } = sampler.state().last ?? { keys: 0, known: 0 };
  expect(known).toBe(keys);
  expect(known).toBeGreaterThanOrEqual(500);
  await sampler.tick();
  expect(records.last.resources.get('n')?.keys).toBe(500);
});

it('a cut sweep says truncated, and the next one goes on where it was cut', async () => {
  const names = Array.from({ length: 2000 }, (_, at) => `lock:n:${at}`);
  await redis.mset(names.flatMap((name) => [name, 'v']));
  const { sampler, records } = make({ limits: { maxKeys: 900 } });
  await sampler.tick();
  expect(records.last.truncated).toBe(true);
  const first = records.last.resources.get('n')?.keys ?? 0;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(1500);
  const seen = new Set<string>();
  for (let sweeps = 0; sweeps < 20 && seen.size < 2000; sweeps += 1) {
    await sampler.tick();
    for (const { key } of sampler.locks()) seen.add(String(key));
  }
  expect(seen.size).toBe(2000);
  expect(records.samples.every(({ truncated }) => truncated)).toBe(true);
});

describe('other data in the middle of a cut round', () => {
  const names = Array.from({ length: 3000 }, (_, at) => `lock:n:${at}`);
  const fill = () => redis.mset(names.flatMap((name) => [name, 'v']));

  it.each(['FLUSHALL', 'FLUSHDB', 'SWAPDB 0 1'])('%s: nothing that it took away is shown', async (text) => {
    await fill();
    const { sampler, keys } = make({ limits: { maxKeys: 900 } });
    await sampler.tick();
    await sampler.tick();
    expect(keys().length).toBeGreaterThanOrEqual(900);
    const [command = '', ...args] = text.split(' ');
    await redis.call(command, ...args);
    await redis.set('lock:new', 'v');
    await sampler.tick();
    expect([keys(), sampler.state().last?.truncated]).toEqual([['lock:new'], false]);
  });

  it('FLUSHDB of another database is not: the round goes on', async () => {
    await fill();
    const { sampler, records, keys } = make({ limits: { maxKeys: 1500 } });
    await sampler.tick();
    const before = keys();
    const other = server.client({ db: 1 });
    await other.flushdb();
    await sampler.tick();
    expect(records.last.truncated).toBe(true);
    expect(keys().filter((name) => !before.includes(name)).length).toBeGreaterThan(1000);
  });

  it('is no ending that was seen', async () => {
    await fill();
    const { sampler, records } = make({ limits: { maxKeys: 900 } });
    await sampler.tick();
    await redis.flushall();
    await sampler.tick();
    await sampler.tick();
    expect(records.changes.get('n')).toBeUndefined();
  });

  it('many deletions are not other data: a round may show them until its end, and says truncated', async () => {
    await fill();
    const { sampler, records, keys } = make({ limits: { maxKeys: 900 } });
    await sampler.tick();
    await redis.del(...names);
    await sampler.tick();
    expect([keys().length > 0, records.last.truncated]).toEqual([true, true]);
    await sampler.tick();
    expect([keys(), records.last.truncated]).toEqual([[], false]);
  });
});

it('a tick is skipped while the share of the server’s time is spent', async () => {
  await redis.set('lock:a', 'v');
  const { sampler, records } = make({ dutyShare: 0.000_001 });
  await sampler.tick();
  await sampler.tick();
  expect([records.samples.length, sampler.state().skippedTicks, records.skipped]).toEqual([1, 1, ['duty']]);
});

it('ticks that come together are one sweep', async () => {
  const { sampler, records } = make();
  await Promise.all([sampler.tick(), sampler.tick(), sampler.tick()]);
  expect([records.samples.length, records.skipped]).toEqual([1, ['busy', 'busy']]);
});

it('keys that expired but are still stored are not counted (B3)', async () => {
  await redis.call('DEBUG', 'SET-ACTIVE-EXPIRE', '0');
  try {
    await redis.set('lock:gone', 'v', 'PX', 1);
    await redis.set('lock:here', 'v', 'PX', 60_000);
    const serverMs = async () => {
      const [seconds, us] = await redis.time();
      return Number(seconds) * 1000 + Number(us) / 1000;
    };
    const expiredMs = (await serverMs()) + 5;
    await waitFor(async () => (await serverMs()) > expiredMs, { what: 'the expiry', everyMs: 1 });
    const { sampler, keys } = make();
    await sampler.tick();
    expect(keys()).toEqual(['lock:here']);
  } finally {
    await redis.call('DEBUG', 'SET-ACTIVE-EXPIRE', '1');
  }
});
