import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Lease } from '../../../client/index.js';
import { isCommand } from '../../support/proxy-rules.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import { closeClients, realClient } from './real-client.js';

// Field cases about answers that are lost, late or refused. Ids and sources name the public report.

const SCRIPT = isCommand('evalsha', 'eval');

let server: RedisServer;
let proxy: TcpProxy;
let admin: Redis;

beforeEach(async () => {
  server = await startRedis();
  proxy = await startTcpProxy({ target: { port: server.port } });
  admin = server.client();
});

afterEach(async () => {
  proxy.releaseReplies();
  await closeClients();
  await proxy.stop();
  await server.stop();
});

/** Makes the server know the scripts, so that one command is one request. */
async function warmUp(client: ReturnType<typeof realClient>['client']): Promise<void> {
  const lease = await client.acquire('lock:warm', { leaseMs: 5000 });
  await lease.renew();
  await lease.release();
}

/** The local deadline of a lease is not later than that of Redis, whose PTTL is rounded to whole ms. */
async function expectNotBehind(lease: Lease): Promise<void> {
  const pttl = await admin.pttl(lease.key);
  expect(lease.remainingMs()).toBeLessThanOrEqual(pttl + 1);
}

// A6: redis/ioredis#2130, #2131; simstudioai/sim#7680
test.each([true, false])(
  'an acquire that timed out takes no lock when Redis comes back (offline queue: %s)',
  async (enableOfflineQueue) => {
    const redis = server.client({ commandTimeout: 200, enableOfflineQueue, retryStrategy: () => 50 });
    const { client, log } = realClient({ redis }, { commandTimeoutMs: 200 });
    await warmUp(client);
    await server.kill();
    await waitFor(() => redis.status !== 'ready', { what: 'the connection to go' });
    expect((await client.tryAcquire('lock:a', { leaseMs: 30_000 })).outcome).toBe('error');
    await server.restart();
    await waitFor(() => redis.status === 'ready', { what: 'the connection to come back' });
    // Whatever was queued has been carried out before this.
    await redis.ping();
    expect(await redis.exists('lock:a')).toBe(0);
    expect(log.story.at(-1)).toBe('acquire error (connection)');
  },
);

// A6: the same with a server that was only frozen, and so got the command
test('an acquire that a frozen Redis carries out late is taken back', async () => {
  const { client, log } = realClient(server, { commandTimeoutMs: 200 });
  await warmUp(client);
  await server.pause();
  expect(await client.tryAcquire('lock:a', { leaseMs: 30_000 })).toMatchObject({
    outcome: 'unknown',
    reason: 'command_timeout',
  });
  await server.resume();
  await waitFor(() => client.stats.cleanUps === 0, { what: 'the clean-up' });
  expect(await admin.exists('lock:a')).toBe(0);
  expect(log.story.at(-1)).toBe('acquire unknown (command_timeout)');
});

// A7: mike-marcacci/node-redlock#369; redis/ioredis#933, #1720
test('a lost answer whose command is resent is a grant, with the lease from the first send', async () => {
  const { client, log } = realClient(proxy);
  await warmUp(client);
  const cut = proxy.cutAfterRequest({ matches: SCRIPT });
  const startMs = performance.now();
  const result = await client.tryAcquire('lock:a', { leaseMs: 2000 });
  await cut;
  expect(result.outcome).toBe('acquired');
  if (result.outcome !== 'acquired') return;
  expect(result.lease.remainingMs()).toBeLessThanOrEqual(2000 - (performance.now() - startMs) + 20);
  await expectNotBehind(result.lease);
  expect(log.last('acquire')).toMatchObject({ outcome: 'acquired', attempts: 1 });
  expect(await result.lease.release()).toEqual({ outcome: 'released' });
});

// A7: without ioredis's resend
test('a lost answer that nobody resends leaves no orphan', async () => {
  const redis = new Redis({
    port: proxy.port,
    autoResendUnfulfilledCommands: false,
    commandTimeout: 300,
    enableOfflineQueue: false,
    retryStrategy: () => 20,
  });
  redis.on('error', () => {});
  const { client } = realClient({ redis }, { commandTimeoutMs: 300 });
  await warmUp(client);
  const cut = proxy.cutAfterRequest({ matches: SCRIPT });
  const result = await client.tryAcquire('lock:a', { leaseMs: 30_000 });
  await cut;
  expect(result.outcome).toBe('unknown');
  await waitFor(async () => (await admin.exists('lock:a')) === 0, { what: 'the orphan to be taken back' });
  redis.disconnect();
});

// A14: redis/ioredis#144; n8n-io/n8n#25038; rajnandan1/kener#711
test('a demoted server: readonly is told as itself, the connection is renewed, and locking recovers', async () => {
  const { client, redis, log } = realClient(server);
  const lease = await client.acquire('lock:held', { leaseMs: 20_000 });
  let closed = 0;
  redis.on('close', () => {
    closed += 1;
  });
  await admin.replicaof('127.0.0.1', 1);
  expect(await client.tryAcquire('lock:a', { leaseMs: 1000 })).toMatchObject({
    outcome: 'error',
    reason: 'readonly',
  });
  expect(await lease.renew()).toMatchObject({ outcome: 'error', reason: 'readonly' });
  await admin.replicaof('NO', 'ONE');
  expect((await client.acquire('lock:a', { leaseMs: 1000, waitMs: 5000 })).isValid()).toBe(true);
  expect(closed).toBeGreaterThan(0);
  expect(await lease.check()).toMatchObject({ outcome: 'held' });
  expect(log.story.filter((line) => line.startsWith('lost'))).toEqual([]);
});

// E3: go-redsync/redsync#37; SPSCommerce/redlock-py#3; samcook/RedLock.net#34
test('the local deadline is never later than that of Redis, for grants and renewals', async () => {
  const { client } = realClient(proxy, { commandTimeoutMs: 5000 });
  await warmUp(client);
  proxy.delayReplies(100);
  for (let round = 0; round < 5; round += 1) {
    const lease = await client.acquire(`lock:${round}`, { leaseMs: 1000 });
    expect(lease.remainingMs()).toBeLessThanOrEqual(900);
    await expectNotBehind(lease);
    await lease.renew();
    expect(lease.remainingMs()).toBeLessThanOrEqual(900);
    await expectNotBehind(lease);
  }
});

// E3: a reply slower than the lease
test('an answer slower than the lease is no lock, and the key is taken back', async () => {
  const { client, log } = realClient(proxy, { commandTimeoutMs: 2000 });
  await warmUp(client);
  proxy.delayReplies(300);
  expect(await client.tryAcquire('lock:a', { leaseMs: 200 })).toEqual({
    outcome: 'timeout',
    reason: 'slow_reply',
  });
  expect(log.story.at(-1)).toBe('acquire timeout (slow_reply)');
  await waitFor(() => client.stats.cleanUps === 0, { what: 'the clean-up' });
  expect(await admin.exists('lock:a')).toBe(0);
});

// E7: nextlyhq/nextly#777; nodejs/node#21822; boxlite-ai/boxlite#1168
test('slow renewals never overlap, and one without an answer does not hide the loss', async () => {
  const { client, log } = realClient(proxy, { commandTimeoutMs: 5000 });
  await warmUp(client);
  const lease = await client.acquire('lock:a', { leaseMs: 600, watchdog: true });
  // The answer comes later than the next renewal would be due, but before the lease ends.
  proxy.delayReplies(300);
  const { received } = proxy;
  await proxy.request({ matches: SCRIPT });
  await waitFor(() => log.story.includes('renew renewed') || proxy.received - received, {
    what: 'a renewal',
  });
  expect(proxy.received - received).toBe(1);
  await waitFor(() => log.story.includes('renew renewed'), { what: 'its answer' });
  expect(lease.isValid()).toBe(true);
  proxy.delayReplies(0);
  proxy.holdReplies();
  const sent = proxy.received;
  const heldMs = performance.now();
  await new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
  expect(performance.now() - heldMs).toBeLessThan(700);
  expect(log.story.at(-1)).toBe('lost by deadline');
  expect(proxy.received - sent).toBeLessThanOrEqual(1);
});

test('a release whose answer is lost is no lost lock: its resend finds what the first send did', async () => {
  const { client, log } = realClient(proxy);
  await warmUp(client);
  const told = log.story.length;
  const lease = await client.acquire('lock:a', { leaseMs: 20_000 });
  const cut = proxy.cutAfterRequest({ matches: SCRIPT });
  expect(await lease.release()).toMatchObject({ outcome: 'unknown', reason: 'connection' });
  await cut;
  expect(await admin.exists('lock:a')).toBe(0);
  expect(log.story.slice(told)).toEqual(['acquire acquired', 'release unknown (connection)']);
  expect(lease.loss).toBeUndefined();
});

test('a client that began before Redis waits for it', async () => {
  const { port } = server;
  await server.kill();
  const { client } = realClient({ port }, { commandTimeoutMs: 300 });
  expect(await client.tryAcquire('lock:a', { leaseMs: 1000 })).toMatchObject({
    outcome: 'error',
    reason: 'connection',
  });
  const acquire = client.acquire('lock:a', { leaseMs: 5000, waitMs: 10_000 });
  await server.restart();
  expect((await acquire).isValid()).toBe(true);
});

test('after a restart the times of the new server are not mixed with those of the old one', async () => {
  const { client, log, redis } = realClient(server);
  const lease = await client.acquire('lock:a', { leaseMs: 20_000 });
  await waitFor(() => log.source?.server().id, { what: 'the run id' });
  const first = log.source?.server().id;
  await server.restart();
  await waitFor(
    () => redis.status === 'ready' && log.source?.server().id !== first && log.source?.server().id,
    {
      what: 'the new run id',
    },
  );
  expect([...(log.source?.holds() ?? [])][0]).toMatchObject({ serverId: first });
  expect(await lease.release()).toMatchObject({ outcome: 'expired' });
  const release = log.last('release');
  expect(release.settledUs).toBeLessThanOrEqual(release.serverUs ?? 0);
});
