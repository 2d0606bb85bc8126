import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LeaseLostError } from '../../../client/index.js';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import { callsOf, closeClients, realClient, stall } from './real-client.js';

// Field cases about locks that end while the work goes on. Ids and sources name the public report.

let server: RedisServer;
let proxy: TcpProxy;
let admin: ReturnType<RedisServer['client']>;

beforeAll(async () => {
  server = await startRedis();
  proxy = await startTcpProxy({ target: { port: server.port } });
  admin = server.client();
});

beforeEach(() => admin.flushall());

afterEach(async () => {
  proxy.releaseReplies();
  proxy.delayReplies(0);
  await closeClients();
});

afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

/** Until the local deadline of a lease was told. */
const lost = (log: { story: string[] }, count = 1) =>
  waitFor(() => log.story.filter((line) => line.startsWith('lost')).length >= count, {
    what: 'the loss to be told',
  });

// A1: mike-marcacci/node-redlock#283
test('a renewal that finds its lease expired tells one loss and throws nothing out of its timer', async () => {
  const { client, log } = realClient(server);
  const lease = await client.acquire('lock:a', { leaseMs: 300, watchdog: true });
  let aborts = 0;
  lease.signal.addEventListener('abort', () => {
    aborts += 1;
  });
  stall(500);
  await lost(log);
  expect(await lease.release()).toMatchObject({ outcome: 'expired' });
  expect(aborts).toBe(1);
  expect(log.story.filter((line) => line.startsWith('lost'))).toHaveLength(1);
  const tail = log.story.slice(log.story.findIndex((line) => line.startsWith('lost')));
  expect(tail).not.toContain('renew renewed');
});

// A2: swarthy/redis-semaphore#175; leandromoreira/redlock-rb#36
test('a late renewal never takes again a lock that another held meanwhile', async () => {
  const { client, log } = realClient(server);
  const lease = await client.acquire('lock:a', { leaseMs: 600, watchdog: true });
  await admin.del('lock:a');
  const other = await client.acquire('lock:a', { leaseMs: 5000 });
  await other.release();
  await lost(log);
  expect(lease.loss).toMatchObject({ by: 'renew', overlapped: true, latestFence: other.fence });
  expect(await admin.exists('lock:a')).toBe(0);
  await lease.release();
  expect(log.last('release')).toMatchObject({ outcome: 'expired', renewals: 0, lost: true });
});

// A8: errorception/redis-lock#38; laravel/framework#26213; twentyhq/twenty#25661
test('releasing twice never deletes the lock of the next holder, and is told once', async () => {
  const { client, log } = realClient(server);
  const first = await client.acquire('lock:a', { leaseMs: 50 });
  const second = await client.acquire('lock:a', { leaseMs: 5000, waitMs: 2000 });
  const answers = await Promise.all([first.release(), first.release(), first.release()]);
  expect(answers.map(({ outcome }) => outcome)).toEqual(['stolen', 'stolen', 'stolen']);
  expect(await first.release()).toEqual({ outcome: 'stolen', latestFence: second.fence });
  expect(await second.check()).toMatchObject({ outcome: 'held' });
  expect(log.story.filter((line) => line.startsWith('release'))).toEqual(['release stolen']);
});

// A9: mike-marcacci/node-redlock#309, #169
test('the scoped helper rejects at once after a loss, however slow Redis is, and releases in the background', async () => {
  const { client, log } = realClient(proxy);
  let thrownMs = 0;
  const work = client.withLock('lock:a', { leaseMs: 200 }, (lease) => {
    proxy.holdReplies();
    stall(300);
    thrownMs = performance.now();
    lease.signal.throwIfAborted();
  });
  const error = await work.catch((reason) => reason);
  expect(performance.now() - thrownMs).toBeLessThan(50);
  expect(error).toMatchObject({ name: 'LeaseLostError', by: 'deadline' });
  const evals = callsOf(await admin.info('commandstats'), 'evalsha');
  proxy.releaseReplies();
  await waitFor(() => log.story.at(-1)?.startsWith('release'), { what: 'the release to be told' });
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline', 'release expired']);
  expect(callsOf(await admin.info('commandstats'), 'evalsha') - evals).toBeLessThanOrEqual(1);
});

// A10: mike-marcacci/node-redlock#107, #38, #195; sesamecare/redlock#6
test('a key that the application uses for something else is told as a wrong type, not as contention', async () => {
  const { client, log } = realClient(server);
  await admin.hset('lock:a', 'field', 'value');
  expect(await client.tryAcquire('lock:a', { leaseMs: 1000 })).toMatchObject({
    outcome: 'error',
    reason: 'wrong_type',
  });
  const waiting = client.acquire('lock:a', { leaseMs: 1000, waitMs: 20_000 });
  await expect(waiting).rejects.toMatchObject({ id: 'acquire_failed', reason: 'wrong_type' });
  expect(log.last('acquire').attempts).toBe(1);
  expect(await admin.hgetall('lock:a')).toEqual({ field: 'value' });
});

// A10, second half
test('a held lock that becomes another type is lost; renewing and releasing tell why', async () => {
  const { client, log } = realClient(server);
  const renewed = await client.acquire('lock:a', { leaseMs: 5000 });
  const released = await client.acquire('lock:b', { leaseMs: 5000 });
  for (const key of ['lock:a', 'lock:b']) await admin.multi().del(key).hset(key, 'f', 'v').exec();
  expect(await renewed.renew()).toMatchObject({ outcome: 'error', reason: 'wrong_type' });
  expect(renewed.isValid()).toBe(false);
  expect(await released.release()).toMatchObject({ outcome: 'error', reason: 'wrong_type' });
  expect(log.story.slice(2)).toEqual([
    'renew error (wrong_type)',
    'lost by renew',
    'lost by release',
    'release error (wrong_type)',
  ]);
  expect(await admin.exists('lock:a', 'lock:b')).toBe(2);
});

// A12: swarthy/redis-semaphore#9; taskforcesh/bullmq#3183, #3056, #489; OptimalBits/bull#308
test('after a stall of the event loop the holder sees that it lost the lock before it awaits anything', async () => {
  const { client, log } = realClient(server);
  const lease = await client.acquire('lock:a', { leaseMs: 200, watchdog: true });
  stall(600);
  expect(lease.isValid()).toBe(false);
  expect(lease.signal.aborted).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(log.story.filter((line) => line.startsWith('lost'))).toEqual(['lost by deadline']);
  expect(log.last('lost').loopDelayMs).toBeGreaterThan(400);
  await lease.release();
});

// A13: kalbasit/ncps#913; blnkfinance/blnk#355
test('a cancelled caller still gives its lock back', async () => {
  const { client, log } = realClient(server);
  const control = new AbortController();
  const work = client.withLock('lock:a', { leaseMs: 30_000, signal: control.signal }, async () => {
    control.abort(new Error('cancelled'));
    control.signal.throwIfAborted();
  });
  await expect(work).rejects.toThrow('cancelled');
  expect(await admin.exists('lock:a')).toBe(0);
  expect(log.story).toEqual(['acquire acquired', 'release released']);
  expect((await client.tryAcquire('lock:a', { leaseMs: 1000 })).outcome).toBe('acquired');
});

// A15: opsmill/infrahub#9450; redisson/redisson#775; bsm/redislock#94; sewenew/redis-plus-plus#44
test('a flush that lets two hold is found within one renewal, and the fence still rises', async () => {
  const { client, log } = realClient(server);
  const first = await client.acquire('lock:a', { leaseMs: 600, watchdog: true });
  await admin.flushall();
  const second = await client.acquire('lock:a', { leaseMs: 5000 });
  expect(second.fence ?? 0).toBeGreaterThan(first.fence ?? 0);
  await lost(log);
  expect(first.loss).toMatchObject({ by: 'renew', overlapped: true });
  expect(log.last('lost')).toMatchObject({ fence: first.fence, latestFence: second.fence });
  expect(await first.release()).toMatchObject({ outcome: 'stolen', latestFence: second.fence });
});

// E4: valkey-io/valkey#2651; redis/redis#416, #217
test('a forward jump of the clock of Redis: every lock is told lost within one renewal', async () => {
  const { client, log } = realClient(server);
  const leases = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      client.acquire(`lock:${index}`, { leaseMs: 600, watchdog: true }),
    ),
  );
  await Promise.all(leases.map((_, index) => admin.pexpire(`lock:${index}`, 1)));
  await lost(log, 50);
  expect(leases.map((lease) => lease.isValid())).not.toContain(true);
  expect(log.story.filter((line) => line.startsWith('lost'))).toHaveLength(50);
});

// E4, second half
test('a backward jump of the clock of Redis: the next renewal brings back the wanted life', async () => {
  const { client, log } = realClient(server);
  await client.acquire('lock:a', { leaseMs: 600, watchdog: true });
  await admin.pexpire('lock:a', 86_400_000);
  await waitFor(() => log.story.includes('renew renewed'), { what: 'a renewal' });
  expect(await admin.pttl('lock:a')).toBeLessThanOrEqual(600);
});

test('withLock refuses the result of work that outlived its lease', async () => {
  const { client } = realClient(server);
  const work = client.withLock('lock:a', { leaseMs: 50 }, () => stall(80));
  await expect(work).rejects.toBeInstanceOf(LeaseLostError);
});

test('the settling time is on the clock of Redis: never after it', async () => {
  const { client, log } = realClient(proxy);
  proxy.delayReplies(30);
  const lease = await client.acquire('lock:a', { leaseMs: 5000 });
  const [seconds, micros] = await admin.time();
  const beforeUs = Number(seconds) * 1_000_000 + Number(micros);
  await lease.release();
  const release = log.last('release');
  expect(release.settledUs).toBeLessThanOrEqual(release.serverUs ?? 0);
  // The bound errs by no more than one round trip.
  expect(release.settledUs ?? 0).toBeGreaterThan(beforeUs - 200_000);
});
