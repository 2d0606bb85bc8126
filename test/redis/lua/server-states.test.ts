import { afterEach, describe, expect, it } from 'vitest';
import { fenceKey } from '../../../lua/fence-key.js';
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { bindScripts, makeLock } from './lock-store.js';

/** A script that may not run a command gets another text than a client (7.0), or the same (7.2). */
const REFUSED = /NOPERM|user executing the script/;

describe('the scripts meet a server', () => {
  let server: RedisServer | undefined;
  const start = async (options: RedisServerOptions = {}) => {
    server = await startRedis(options);
    return server;
  };
  afterEach(() => server?.stop());

  it('that has forgotten them (SCRIPT FLUSH): each is sent once by its text, then by its name again', async () => {
    const redis = (await start()).client();
    const run = bindScripts(redis);
    const lock = makeLock();
    for (const name of ['acquire', 'renew', 'check', 'release'] as const) {
      await redis.script('FLUSH');
      await redis.config('RESETSTAT');
      await run[name](lock.mine);
      const stats = await redis.info('commandstats');
      expect(stats).toMatch(/cmdstat_eval:calls=1,/);
      await run[name](lock.mine);
      expect(await redis.info('commandstats')).toMatch(/cmdstat_eval:calls=1,/);
    }
  });

  it('that was restarted and is empty', async () => {
    const running = await start();
    const redis = running.client();
    const run = bindScripts(redis);
    const lock = makeLock();
    const first = await run.acquire(lock.mine);
    await running.restart();
    expect(await run.renew(lock.mine)).toMatchObject({ word: 'expired', latestFence: null });
    const second = await run.acquire(lock.theirs);
    if (first.word !== 'granted' || second.word !== 'granted') throw new Error('not granted');
    expect(second.fence).toBeGreaterThan(first.fence ?? Number.NaN);
  });

  it('without memory left: no grant and no half a grant, but renew and release still work', async () => {
    const redis = (await start()).client();
    const run = bindScripts(redis);
    const held = makeLock();
    const free = makeLock();
    await run.acquire(held.mine);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.config('SET', 'maxmemory', '1');
    await expect(run.acquire(free.mine)).rejects.toThrow(/^OOM/);
    await expect(run.acquire({ ...free.mine, fenceKey: null })).rejects.toThrow(/^OOM/);
    expect(await redis.exists(free.key, free.fenceKey)).toBe(0);
    expect(await run.acquire(held.theirs)).toMatchObject({ word: 'held' });
    expect(await run.check(held.mine)).toMatchObject({ word: 'held' });
    expect(await run.renew(held.mine)).toMatchObject({ word: 'renewed' });
    expect(await run.release(held.mine)).toMatchObject({ word: 'released' });
    expect(await run.release(held.mine)).toMatchObject({ word: 'expired' });
  });

  it('that became a read-only replica: the error passes through, and a held lock still answers', async () => {
    const redis = (await start()).client();
    const run = bindScripts(redis);
    const lock = makeLock();
    await run.acquire(lock.mine);
    await redis.replicaof('127.0.0.1', 1);
    await expect(run.acquire(makeLock().mine)).rejects.toThrow(/^READONLY/);
    await expect(run.renew(lock.mine)).rejects.toThrow(/^READONLY/);
    expect(await run.check(lock.mine)).toMatchObject({ word: 'held' });
    await redis.replicaof('NO', 'ONE');
    expect(await run.release(lock.mine)).toMatchObject({ word: 'released' });
  });

  it('that refuses the fence key: the error passes through and the lock is not taken', async () => {
    const running = await start({ acl: ['app on >word ~lock:* +@all'] });
    const app = running.client({ username: 'app', password: 'word' });
    const lock = makeLock();
    await expect(bindScripts(app).acquire(lock.mine)).rejects.toThrow(REFUSED);
    expect(await running.client().exists(lock.key)).toBe(0);
    expect(await bindScripts(app).acquire({ ...lock.mine, fenceKey: null })).toMatchObject({
      word: 'granted',
    });
  });

  it('that refuses a command: no reply is made of the refusal', async () => {
    const running = await start({ acl: ['app on >word ~* +@all -get'] });
    const app = running.client({ username: 'app', password: 'word' });
    await expect(bindScripts(app).acquire(makeLock().mine)).rejects.toThrow(REFUSED);
    await expect(bindScripts(app).check(makeLock().mine)).rejects.toThrow(REFUSED);
  });

  it('through a connection with a keyPrefix', async () => {
    const running = await start();
    const run = bindScripts(running.client({ keyPrefix: 'app:' }));
    const lock = makeLock('lock:a');
    const args = { ...lock.mine, fenceKey: fenceKey('app:lock:a', 'app:') };
    await run.acquire(args);
    const stored = await running.client().keys('*');
    expect(stored.sort()).toEqual(['app:lock:a', 'app:redis-lock-fence:{app:lock:a}']);
  });

  it('when a lease of 1 ms ends by itself', async () => {
    const redis = (await start()).client();
    const run = bindScripts(redis);
    const lock = makeLock();
    const granted = await run.acquire({ ...lock.mine, leaseMs: 1 });
    if (granted.word !== 'granted') throw new Error(granted.word);
    await waitFor(async () => (await redis.exists(lock.key)) === 0, { what: 'the lease to end' });
    expect(await run.release(lock.mine)).toMatchObject({ word: 'expired', latestFence: granted.fence });
  });
});
