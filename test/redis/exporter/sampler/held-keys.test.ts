import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockId, ownerDigest } from '../../../../contract/lock-id.js';
import { type RedisServer, startRedis } from '../../../support/redis-server.js';
import { waitFor } from '../../../support/wait-for.js';
import { holdKey, releaseKey } from './held.js';
import { makeSampler, type TestSampler, type TestSamplerOptions } from './start-sampler.js';

let server: RedisServer;
let redis: Redis;
const made: TestSampler[] = [];

function make(options: TestSamplerOptions = {}): TestSampler {
  const sampler = makeSampler(server.port, options);
  made.push(sampler);
  return sampler;
}

beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
beforeEach(async () => {
  await redis.flushall();
  await redis.config('RESETSTAT');
});
afterEach(async () => {
  for (const sampler of made.splice(0)) await sampler.stop();
});
afterAll(() => server.stop());

describe('mode held', () => {
  it('looks at the keys that clients hold, at no other, and never scans', async () => {
    await redis.set('app:pay:1', 'mine', 'PX', 60_000);
    await redis.set('lock:other', 'theirs', 'PX', 60_000);
    const { sampler, heldKeys, records, keys } = make({ mode: 'held' });
    holdKey(heldKeys, 'app:pay:1', 'mine', 'pay');
    await sampler.tick();
    expect([records.up, keys(), records.last.truncated]).toEqual(['ok', ['app:pay:1'], false]);
    expect(records.last.resources.get('pay')).toMatchObject({ keys: 1, withoutExpiry: 0 });
    expect([...sampler.locks()]).toMatchObject([{ owner: ownerDigest('mine'), type: 'string' }]);
    const stats = await redis.info('commandstats');
    expect(stats).not.toMatch(/cmdstat_(scan|keys):/);
    expect(/cmdstat_pttl:calls=(\d+)/.exec(stats)?.[1]).toBe('1');
  });

  it('with nothing held it is a good sample of nothing, as long as Redis answers', async () => {
    const { sampler, records } = make({ mode: 'held' });
    await sampler.tick();
    expect([records.up, records.last.resources.size]).toEqual(['ok', 0]);
  });

  it('tells of each look which keys are gone or another’s, by the server’s clock and run id', async () => {
    await redis.set('lock:mine', 'me', 'PX', 60_000);
    await redis.set('lock:stolen', 'thief', 'PX', 60_000);
    const { sampler, heldKeys, records } = make({ mode: 'held' });
    for (const key of ['lock:mine', 'lock:stolen', 'lock:gone']) holdKey(heldKeys, key, 'me');
    await sampler.tick();
    const serverId = /run_id:(\w+)/.exec(await redis.info('server'))?.[1];
    const common = { resource: 'r', serverId, serverUs: expect.any(Number) };
    expect(records.heldLooks.at(-1)).toEqual([
      {
        ...common,
        lock: lockId('test', 'lock:mine'),
        state: 'there',
        leftMs: expect.any(Number),
        owner: ownerDigest('me'),
      },
      {
        ...common,
        lock: lockId('test', 'lock:stolen'),
        state: 'there',
        leftMs: expect.any(Number),
        owner: ownerDigest('thief'),
      },
      { ...common, lock: lockId('test', 'lock:gone'), state: 'gone' },
    ]);
  });

  it('a released key is looked at no more; one that stays gone is forgotten after a minute', async () => {
    const { sampler, heldKeys } = make({ mode: 'held' });
    for (const key of ['lock:a', 'lock:b']) holdKey(heldKeys, key, 'me');
    releaseKey(heldKeys, 'lock:a', 'me');
    expect(heldKeys.size().keys).toBe(1);
    for (let looks = 0; looks < 12; looks += 1) await sampler.tick();
    expect(heldKeys.size().keys).toBe(0);
  });

  it('a key of another type is there, without an owner', async () => {
    await redis.hset('lock:h', 'f', 'v');
    const { sampler, heldKeys, records } = make({ mode: 'held' });
    holdKey(heldKeys, 'lock:h', 'me');
    await sampler.tick();
    expect(records.heldLooks.at(-1)).toMatchObject([{ state: 'there', leftMs: null, owner: null }]);
    expect([...sampler.locks()]).toMatchObject([{ type: 'hash' }]);
  });

  it('a key that its lock id does not name is never looked at, and counted as refused', async () => {
    await redis.set('secret', 'x');
    const { sampler, heldKeys, records } = make({ mode: 'held' });
    heldKeys.applyHolds([
      {
        lock: lockId('test', 'lock:a'),
        owner: ownerDigest('me'),
        resource: 'r',
        grantUs: 1,
        leaseMs: 1000,
        leftMs: 500,
        renewals: 0,
        keyBase64: Buffer.from('secret').toString('base64'),
      },
    ]);
    await sampler.tick();
    expect([records.heldLooks.at(-1), heldKeys.size()]).toEqual([[], { keys: 0, evicted: 0, refused: 1 }]);
    expect(await redis.info('commandstats')).not.toMatch(/cmdstat_(pttl|getrange)/);
  });

  it('many keys are looked at in writes of bounded size', async () => {
    const names = Array.from({ length: 1234 }, (_, at) => `lock:${at}`);
    await redis.mset(names.flatMap((name) => [name, 'me']));
    const { sampler, heldKeys, records, keys } = make({ mode: 'held' });
    for (const name of names) holdKey(heldKeys, name, 'me');
    await sampler.tick();
    expect([keys().length, records.heldLooks.at(-1)?.length]).toEqual([1234, 1234]);
  });

  it('a Redis that is away withdraws the sample, and comes back', async () => {
    const { sampler, records } = make({ mode: 'held' });
    await sampler.tick();
    await server.kill();
    await sampler.tick();
    expect(records.up).toBe('connection');
    await server.restart();
    await waitFor(() => sampler.tick().then(() => records.up === 'ok'), { what: 'a good sample' });
    redis = server.client();
  });
});

describe('beside the sweeps', () => {
  it('a held key is seen to be gone, and its renewal too, before the next sweep', async () => {
    await redis.set('lock:pay:1', 'me', 'PX', 20_000);
    await redis.set('lock:pay:2', 'me', 'PX', 20_000);
    const { sampler, watch, heldKeys, records, keys } = make();
    await sampler.tick();
    for (const key of ['lock:pay:1', 'lock:pay:2']) holdKey(heldKeys, key, 'me', 'pay');
    await redis.pexpire('lock:pay:1', 40_000);
    await redis.del('lock:pay:2');
    await watch.tick();
    expect(keys()).toEqual(['lock:pay:1']);
    await sampler.tick();
    expect(records.changes.get('pay')).toEqual({ renewals: 1, handovers: 0, released: 1, expired: 0 });
  });

  it('the resource that the client gave wins over the rule of the sweep', async () => {
    await redis.set('lock:pay:1', 'me', 'PX', 20_000);
    const { sampler, watch, heldKeys, records } = make();
    holdKey(heldKeys, 'lock:pay:1', 'me', 'payments');
    await watch.tick();
    await sampler.tick();
    expect([...records.last.resources.keys()]).toEqual(['payments']);
  });

  it('a look that fails withdraws nothing, and is counted', async () => {
    await redis.set('lock:a', 'me');
    const { sampler, watch, heldKeys, records } = make();
    await sampler.tick();
    holdKey(heldKeys, 'lock:a', 'me');
    await server.kill();
    await watch.tick();
    expect([records.up, records.errors, records.heldLooks]).toEqual(['ok', ['connection'], []]);
    await server.restart();
    redis = server.client();
  });
});
