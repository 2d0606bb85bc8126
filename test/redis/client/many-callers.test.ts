import { afterEach, describe, expect, it } from 'vitest';
import { createLockConnection } from '../../../client/index.js';
import { startCluster } from '../../support/redis-cluster.js';
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { callsOf, closeClients, realClient } from './real-client.js';

const CALLERS = 64;
const defaults = { leaseMs: 30_000, fence: true };
const callers = Array.from({ length: CALLERS }, (_, caller) => caller);

/** Locks of many callers at a time travel in few commands. What each caller is told must not change by that. */
describe('many callers on one connection', () => {
  let server: RedisServer | undefined;
  const start = async (options: RedisServerOptions = {}) => {
    server = await startRedis(options);
    return server;
  };
  afterEach(async () => {
    await closeClients();
    await server?.stop();
    server = undefined;
  });

  it('cost Redis fewer commands than they take locks, and each has its lock and its fence', async () => {
    const running = await start();
    const { port } = running;
    const { client, log } = realClient({ port }, { defaults });
    // The first commands of all bring the scripts, and the answer of which server it is.
    await (await client.acquire('lock:first:1')).release();
    await waitFor(() => log.source?.server().id, { what: 'the run id' });
    await running.client().config('RESETSTAT');
    const leases = await Promise.all(callers.map((caller) => client.acquire(`lock:many:${caller}`)));
    for (const { fence } of leases) expect(fence).toBeGreaterThan(1_000_000_000_000_000);
    const ends = await Promise.all(leases.map((lease) => lease.release()));
    expect(ends.map(({ outcome }) => outcome)).toEqual(callers.map(() => 'released'));
    const calls = callsOf(await running.client().info('commandstats'), 'evalsha');
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThan(CALLERS);
    expect(await running.client().keys('lock:*')).toEqual([]);
  });

  it('for one lock: one has it at a time, whatever travels together', async () => {
    const { port } = await start();
    const { client } = realClient({ port }, { defaults });
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    const options = { leaseMs: 10_000, waitMs: 20_000, retryBaseMs: 1, retryCapMs: 5 };
    await Promise.all(callers.map(() => client.withLock('lock:one:1', options, work)));
    expect(most).toBe(1);
  });

  it('give a lock back and take it again in one turn, in this order', async () => {
    const { port } = await start();
    const { client } = realClient({ port }, { defaults });
    // Brings the scripts: until a server knows them, a command may be sent twice, and is overtaken.
    await (await client.acquire('lock:first:1')).release();
    const leases = await Promise.all(callers.map((caller) => client.acquire(`lock:again:${caller}`)));
    const again = callers.map((caller) => {
      void leases[caller]?.release();
      return client.tryAcquire(`lock:again:${caller}`);
    });
    expect((await Promise.all(again)).map(({ outcome }) => outcome)).toEqual(callers.map(() => 'acquired'));
  });

  // A14 (redis/ioredis#1193 and others): an error inside of a joint answer is no error to ioredis
  it('whose server is demoted to a replica: they leave it, however busy they are', async () => {
    const running = await start();
    const { client, redis } = realClient({ port: running.port }, { defaults });
    await (await client.acquire('lock:first:1')).release();
    let reconnects = 0;
    redis.on('reconnecting', () => {
      reconnects += 1;
    });
    await running.client().replicaof('127.0.0.1', 1);
    let isOver = false;
    const told = new Set<string>();
    const drive = async (caller: number) => {
      while (!isOver) {
        const result = await client.tryAcquire(`lock:demoted:${caller}`);
        told.add('reason' in result ? String(result.reason) : result.outcome);
      }
    };
    const all = Promise.all(callers.map(drive));
    await waitFor(() => reconnects > 0, { what: 'the connection to be made anew' }).finally(() => {
      isOver = true;
    });
    await all;
    expect([...told].filter((word) => word !== 'readonly' && word !== 'connection')).toEqual([]);
    expect(told).toContain('readonly');
  });

  it('through a user who may not ask who the server is: each has a command of its own', async () => {
    const running = await start({ acl: ['app on >word ~* +@all -info'] });
    const login = { username: 'app', password: 'word', onError: () => {} };
    const redis = createLockConnection({ port: running.port, ...login });
    const { client } = realClient({ redis }, { defaults });
    await (await client.acquire('lock:first:1')).release();
    await running.client().config('RESETSTAT');
    await Promise.all(callers.map((caller) => client.acquire(`lock:asked:${caller}`)));
    expect(callsOf(await running.client().info('commandstats'), 'evalsha')).toBe(CALLERS);
    await client.close();
    redis.disconnect();
  });

  it('one of whom asks for a key that is forbidden to the user: it alone is refused', async () => {
    const { port } = await start({ acl: ['app on >word ~lock:* ~redis-lock-fence:* +@all'] });
    const redis = createLockConnection({ port, username: 'app', password: 'word', onError: () => {} });
    const { client } = realClient({ redis }, { defaults });
    const keys = callers.map((caller) => (caller === 7 ? 'other:7' : `lock:acl:${caller}`));
    const results = await Promise.all(keys.map((key) => client.tryAcquire(key)));
    const refused = results.filter(({ outcome }) => outcome !== 'acquired');
    expect(refused).toMatchObject([{ outcome: 'error', reason: 'no_permission' }]);
    for (const result of results) if (result.outcome === 'acquired') await result.lease.release();
    redis.disconnect();
  });

  it('whose server is killed under way: no caller is told of a lock that it has not, and nothing is left', async () => {
    const running = await start();
    const { client } = realClient({ port: running.port }, { defaults, commandTimeoutMs: 500 });
    await (await client.acquire('lock:first:1')).release();
    await running.pause();
    const calls = callers.map((caller) => client.tryAcquire(`lock:kill:${caller}`));
    await running.kill();
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(['unknown']));
    await running.restart();
    expect(await running.client().keys('lock:kill:*')).toEqual([]);
  });
});

it('many callers on a plain connection to a node of a cluster: each has the answer that it would have alone', async () => {
  const cluster = await startCluster();
  try {
    const port = cluster.masters[0]?.port;
    if (port === undefined) throw new Error('a cluster has masters');
    const { client } = realClient({ port }, { defaults });
    const results = await Promise.all(callers.map((caller) => client.tryAcquire(`lock:node:${caller}`)));
    const told = results.map((result) => ('reason' in result ? result.reason : result.outcome));
    expect(new Set(told)).toEqual(new Set(['acquired', 'moved']));
    for (const result of results) if (result.outcome === 'acquired') await result.lease.release();
  } finally {
    await closeClients();
    await cluster.stop();
  }
});
