import { afterEach, expect, test } from 'vitest';
import { createLockConnection, type LockConnection } from '../../../client/index.js';
import { startCluster } from '../../support/redis-cluster.js';
import { startSentinel } from '../../support/redis-sentinel.js';
import { startRedis } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { closeClients, realClient } from './real-client.js';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  await closeClients();
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function connected<Connection extends LockConnection>(redis: Connection): Connection {
  cleanUps.push(() => redis.disconnect());
  return redis;
}

test('an ACL user with the rights of locks only, a database, and a url with an odd password', async () => {
  const server = await startRedis({
    acl: [
      'app on >p@ss:w/o#r%d ~lock:* ~redis-lock-fence:* -@all +evalsha +eval +set +get +del +pexpire +pttl +time +select +client|setname +hello +auth',
    ],
  });
  cleanUps.push(() => server.stop());
  const url = `redis://app:${encodeURIComponent('p@ss:w/o#r%d')}@127.0.0.1:${server.port}/3`;
  const redis = connected(createLockConnection({ url, onError: () => {} }));
  const { client, log } = realClient({ redis });
  const lease = await client.acquire('lock:a', { leaseMs: 5000 });
  expect(await server.client({ db: 3 }).exists('lock:a')).toBe(1);
  expect(await lease.release()).toEqual({ outcome: 'released' });
  expect(await client.tryAcquire('other:a', { leaseMs: 5000 })).toMatchObject({
    outcome: 'error',
    reason: 'no_permission',
  });
  expect(log.source?.server().id).toBeUndefined();
});

test('a wrong password is told as no_auth, and never shown', async () => {
  const server = await startRedis({ password: 'right' });
  cleanUps.push(() => server.stop());
  const errors: Error[] = [];
  const redis = connected(
    createLockConnection({
      port: server.port,
      password: 'wr0ng-secret',
      onError: (error) => errors.push(error),
    }),
  );
  const { client } = realClient({ redis }, { commandTimeoutMs: 300 });
  const result = await client.tryAcquire('lock:a', { leaseMs: 1000 });
  expect(result).toMatchObject({ outcome: 'error', reason: 'no_auth' });
  expect(errors.length).toBeGreaterThan(0);
  expect(JSON.stringify(result) + errors.map((error) => error.stack).join()).not.toContain('wr0ng-secret');
});

// A11: mike-marcacci/node-redlock#64; redisson/redisson#1098; ionelmc/python-redis-lock#59; antirez/redlock-rb#6
test('on a Cluster every name can be locked with a fence, odd braces included', async () => {
  const cluster = await startCluster();
  cleanUps.push(() => cluster.stop());
  const nodes = cluster.masters.map(({ host, port }) => ({ host, port }));
  const redis = connected(createLockConnection({ cluster: nodes, onError: () => {} }));
  const { client, log } = realClient({ redis });
  for (const key of ['a', '{t}:a', 'a{}b', '{', '}{', 'a{b}{c}', 'lock:stock:1', '}', '{}']) {
    const lease = await client.acquire(key, { leaseMs: 5000, waitMs: 2000 });
    expect(lease.fence).toBeGreaterThan(0);
    expect(await lease.renew()).toMatchObject({ outcome: 'renewed' });
    expect(await lease.check()).toMatchObject({ outcome: 'held' });
    expect(await lease.release()).toEqual({ outcome: 'released' });
  }
  expect(new Set(log.story)).toEqual(
    new Set(['acquire acquired', 'renew renewed', 'check held', 'release released']),
  );
});

test('on a Cluster whose node is gone, a lock fails in time and says why', async () => {
  const cluster = await startCluster();
  cleanUps.push(() => cluster.stop());
  const nodes = cluster.masters.map(({ host, port }) => ({ host, port }));
  const redis = connected(createLockConnection({ cluster: nodes, commandTimeoutMs: 500, onError: () => {} }));
  const { client } = realClient({ redis }, { commandTimeoutMs: 500 });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `lock:${letter}`);
  for (const key of keys) await (await client.acquire(key, { leaseMs: 1000, waitMs: 2000 })).release();
  await cluster.masters[0]?.kill();
  const results = await Promise.all(keys.map((key) => client.tryAcquire(key, { leaseMs: 1000 })));
  const failed = results.filter(({ outcome }) => outcome !== 'acquired');
  expect(failed.length).toBeGreaterThan(0);
  for (const result of failed) expect(['error', 'unknown']).toContain(result.outcome);
});

// A14 with Sentinel: redis/ioredis#144; n8n-io/n8n#25038; rajnandan1/kener#711
test('through Sentinel, locking goes on with the new master after a failover', async () => {
  const sentinel = await startSentinel();
  cleanUps.push(() => sentinel.stop());
  const redis = connected(
    createLockConnection({
      sentinels: sentinel.sentinels,
      masterName: sentinel.masterName,
      onError: () => {},
    }),
  );
  const { client, log } = realClient({ redis });
  const lease = await client.acquire('lock:a', { leaseMs: 60_000, waitMs: 5000 });
  await waitFor(() => log.source?.server().id, { what: 'the run id of the master' });
  const first = log.source?.server().id;
  await sentinel.failover('command');
  const other = await client.acquire('lock:b', { leaseMs: 5000, waitMs: 20_000 });
  expect(other.isValid()).toBe(true);
  await waitFor(() => log.source?.server().id !== first && log.source?.server().id, {
    what: 'the run id of the new master',
  });
  expect(['held', 'expired']).toContain((await lease.check()).outcome);
});
