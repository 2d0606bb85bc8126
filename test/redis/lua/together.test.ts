import { afterEach, describe, expect, it } from 'vitest';
import { loadLockScripts } from '../../../lua/scripts.js';
import type { TogetherCall } from '../../../lua/together.js';
import { startCluster } from '../../support/redis-cluster.js';
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/redis-server.js';
import { type Connection, makeLock } from './lock-store.js';

/** A script that may not run a command gets another text than a client (7.0), or the same (7.2). */
const REFUSED = /NOPERM|user executing the script/;

const scripts = loadLockScripts();
const together = async (connection: Connection, calls: readonly TogetherCall[]) =>
  (await scripts.together?.(connection, calls)) ?? [];
const acquire = (lock = makeLock()): TogetherCall => ({ script: 'acquire', args: lock.mine });

describe('several calls in one command', () => {
  let server: RedisServer | undefined;
  const start = async (options: RedisServerOptions = {}) => {
    server = await startRedis(options);
    return server;
  };
  afterEach(() => server?.stop());

  it('cost the server one command, and are carried out in their order', async () => {
    const redis = (await start()).client();
    const lock = makeLock();
    const calls: TogetherCall[] = [
      { script: 'acquire', args: lock.mine },
      { script: 'acquire', args: lock.theirs },
      { script: 'release', args: lock.mine },
      { script: 'acquire', args: lock.theirs },
      { script: 'release', args: lock.mine },
    ];
    await together(redis, [acquire()]);
    await redis.config('RESETSTAT');
    const replies = await together(redis, calls);
    expect(replies.map((reply) => 'word' in reply && reply.word)).toEqual([
      'granted',
      'held',
      'released',
      'granted',
      'stolen',
    ]);
    expect(await redis.info('commandstats')).toMatch(/cmdstat_evalsha:calls=1,/);
  });

  it('on a server that has forgotten the script: sent once by its text', async () => {
    const redis = (await start()).client();
    await redis.script('FLUSH');
    expect(await together(redis, [acquire(), acquire()])).toMatchObject([
      { word: 'granted' },
      { word: 'granted' },
    ]);
  });

  it('without memory left: each grant is refused alone, and releases still work', async () => {
    const redis = (await start()).client();
    const held = makeLock();
    const free = makeLock();
    await together(redis, [acquire(held)]);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.config('SET', 'maxmemory', '1');
    // Redis looks at its memory before the first write of a script only: a grant after the release would pass.
    const replies = await together(redis, [acquire(free), acquire(), { script: 'release', args: held.mine }]);
    expect(replies.map((reply) => ('word' in reply ? reply.word : reply.message.split(' ')[0]))).toEqual([
      'OOM',
      'OOM',
      'released',
    ]);
    expect(await redis.exists(free.key, free.fenceKey)).toBe(0);
  });

  it('on a read-only replica: refused as a whole, so that the connection hears of it', async () => {
    const redis = (await start()).client();
    const lock = makeLock();
    await together(redis, [acquire(lock)]);
    await redis.replicaof('127.0.0.1', 1);
    await expect(together(redis, [acquire(), { script: 'release', args: lock.mine }])).rejects.toThrow(
      /^READONLY/,
    );
    const theirs: TogetherCall = { script: 'acquire', args: lock.theirs };
    expect(await together(redis, [theirs, theirs])).toMatchObject([{ word: 'held' }, { word: 'held' }]);
    await redis.replicaof('NO', 'ONE');
    expect(await together(redis, [{ script: 'release', args: lock.mine }])).toMatchObject([
      { word: 'released' },
    ]);
  });

  it('by a user who may not run a command: no reply is made of the refusal', async () => {
    const running = await start({ acl: ['app on >word ~* +@all -get'] });
    const app = running.client({ username: 'app', password: 'word' });
    const replies = await together(app, [acquire(), acquire()]);
    for (const reply of replies) expect(reply).toMatchObject({ message: expect.stringMatching(REFUSED) });
  });

  it('with one key that is forbidden to the user: refused as a whole, and nothing is done', async () => {
    const running = await start({ acl: ['app on >word ~lock:* ~redis-lock-fence:* +@all'] });
    const app = running.client({ username: 'app', password: 'word' });
    const allowed = makeLock();
    await expect(together(app, [acquire(allowed), acquire(makeLock('other:1'))])).rejects.toThrow(/^NOPERM/);
    expect(await running.client().exists(allowed.key)).toBe(0);
  });

  it('an argument out of range is refused alone', async () => {
    const redis = (await start()).client();
    const wrong: TogetherCall = { script: 'acquire', args: { ...makeLock().mine, leaseMs: 0 } };
    expect(await together(redis, [acquire(), wrong, acquire()])).toMatchObject([
      { word: 'granted' },
      { id: 'invalid_option' },
      { word: 'granted' },
    ]);
  });
});

it('with keys of two slots, sent to a node of a cluster: refused as a whole, and nothing is done', async () => {
  const cluster = await startCluster();
  try {
    const node = cluster.masters[0]?.client();
    if (node === undefined) throw new Error('a cluster has masters');
    const calls = Array.from({ length: 8 }, () => acquire());
    await expect(together(node, calls)).rejects.toThrow(/^(CROSSSLOT|MOVED)/);
    expect(await node.dbsize()).toBe(0);
  } finally {
    await cluster.stop();
  }
});
