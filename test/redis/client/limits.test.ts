import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RedisServer, startRedis } from '../../support/redis-server.js';
import { errorReply } from '../../support/resp-reply.js';
import { startRespStub } from '../../support/resp-stub.js';
import { waitFor } from '../../support/wait-for.js';
import { callsOf, closeClients, realClient } from './real-client.js';

// Field cases about settings, races and names. Ids and sources name the public report.

let server: RedisServer;
let admin: ReturnType<RedisServer['client']>;

beforeAll(async () => {
  server = await startRedis();
  admin = server.client();
});

beforeEach(() => admin.flushall());
afterEach(closeClients);
afterAll(() => server.stop());

const scriptCalls = async () => {
  const stats = await admin.info('commandstats');
  return callsOf(stats, 'evalsha') + callsOf(stats, 'eval');
};

// A3: redisson/redisson#7272, #2714, #1626
test('aborting or releasing in the very turn of the grant leaves no watchdog behind', async () => {
  const { client, log } = realClient(server);
  const rounds = Array.from({ length: 500 }, async (_, index) => {
    const control = new AbortController();
    const acquire = client.tryAcquire(`lock:${index}`, {
      leaseMs: 300,
      watchdog: true,
      signal: control.signal,
    });
    if (index % 2 === 0) setImmediate(() => control.abort());
    const result = await acquire;
    if (result.outcome === 'acquired') await result.lease.release();
    // On a busy machine an answer may take longer than the lease, and is then no grant.
    else expect(['signal', 'slow_reply']).toContain('reason' in result ? result.reason : result.outcome);
  });
  await Promise.all(rounds);
  // Both kinds of rounds did happen.
  expect(log.story).toContain('release released');
  expect(log.story).toContain('acquire aborted (signal)');
  await waitFor(() => client.stats.cleanUps === 0, { what: 'the clean-ups' });
  expect(await admin.keys('lock:*')).toEqual([]);
  expect(client.stats.held).toBe(0);
  expect(log.story).not.toContain('renew renewed');
});

// A4: redis/redis-py#4279, #4282. A5: redis/redis#15626, #8287
test.each([0, -5, null, '', 2 ** 53, Number.MAX_SAFE_INTEGER, 1e21, '9223372036854775807'])(
  'renewing or acquiring with %o sends nothing and changes nothing',
  async (spoilt) => {
    const { client, log } = realClient(server);
    const lease = await client.acquire('lock:a', { leaseMs: 20_000 });
    const before = await scriptCalls();
    await expect(lease.renew(spoilt as number)).rejects.toMatchObject({ id: 'invalid_option' });
    await expect(client.tryAcquire('lock:b', { leaseMs: spoilt as number })).rejects.toMatchObject({
      id: 'invalid_option',
    });
    expect(await scriptCalls()).toBe(before);
    expect(await admin.pttl('lock:a')).toBeGreaterThan(10_000);
    expect(await admin.exists('lock:b')).toBe(0);
    expect(log.story).toEqual(['acquire acquired']);
  },
);

// A11: mike-marcacci/node-redlock#64; redisson/redisson#1098; ionelmc/python-redis-lock#59; antirez/redlock-rb#6
test('CROSSSLOT is told as itself, after one attempt', async () => {
  const stub = await startRespStub({
    handler: (_, { command }) =>
      command.startsWith('EVAL')
        ? errorReply("CROSSSLOT Keys in request don't hash to the same slot")
        : undefined,
  });
  const { client, log } = realClient(stub);
  await expect(client.acquire('lock:a', { leaseMs: 1000, waitMs: 10_000 })).rejects.toMatchObject({
    reason: 'cross_slot',
  });
  expect(log.last('acquire')).toMatchObject({ outcome: 'error', reason: 'cross_slot', attempts: 1 });
  expect(stub.requestsOf('EVALSHA')).toHaveLength(1);
  await closeClients();
  await stub.stop();
});

test.each([
  ['LOADING Redis is loading the dataset in memory', 'loading'],
  ['NOPERM this user has no permissions to run this command', 'no_permission'],
  ["MISCONF Redis can't persist", 'other'],
  ['MASTERDOWN Link with MASTER is down', 'master_down'],
])('%s is told as %s', async (text, reason) => {
  const stub = await startRespStub({
    handler: (_, { command }) => (command.startsWith('EVAL') ? errorReply(text) : undefined),
  });
  const { client } = realClient(stub);
  expect(await client.tryAcquire('lock:a', { leaseMs: 1000 })).toMatchObject({ outcome: 'error', reason });
  await closeClients();
  await stub.stop();
});

// E1: grafana/faro-web-sdk#2016; m-lab/measure-app#153; anomalyco/opentui#829
test.each([-3_600_000, 3_600_000])(
  'a wall clock off by %i ms in the middle of a hold changes nothing',
  async (jumpMs) => {
    let offsetMs = 0;
    const { systemClock } = await import('../../../contract/clock.js');
    const clock = { ...systemClock(), wallMs: () => Date.now() + offsetMs };
    const { client, log } = realClient(server, { clock });
    const holder = await client.acquire('lock:a', { leaseMs: 250 });
    const waiting = client.acquire('lock:a', { leaseMs: 5000, waitMs: 3000, deadline: Date.now() + 3000 });
    offsetMs = jumpMs;
    const lease = await waiting;
    expect(lease.isValid()).toBe(true);
    expect(log.last('acquire').waitMs).toBeGreaterThan(150);
    expect(log.last('acquire').waitMs).toBeLessThan(3000);
    await holder.release();
    await lease.release();
    expect(log.last('release').holdMs).toBeGreaterThanOrEqual(0);
    expect(log.last('release').holdMs).toBeLessThan(3000);
  },
);

// E2: sindresorhus/delay#57; observablehq/runtime#37; immers-space/activitypub-express#43
test('the longest lease and a wait of 60 days make no hot loop', async () => {
  const { client } = realClient(server);
  const warned: unknown[] = [];
  const onWarning = (warning: Error) => warned.push(warning.name);
  process.on('warning', onWarning);
  const lease = await client.acquire('lock:a', { leaseMs: 86_400_000, watchdog: true });
  const control = new AbortController();
  const waiting = client
    .acquire('lock:a', {
      leaseMs: 86_400_000,
      waitMs: 60 * 86_400_000,
      retry: { baseMs: 60_000, capMs: 60_000 },
      signal: control.signal,
    })
    .catch((error) => error);
  await waitFor(() => client.stats.acquiring === 1, { what: 'the waiter' });
  const before = await scriptCalls();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await scriptCalls()) - before).toBeLessThanOrEqual(2);
  control.abort();
  expect(await waiting).toMatchObject({ reason: 'signal' });
  await lease.release();
  process.off('warning', onWarning);
  expect(warned).not.toContain('TimeoutOverflowWarning');
  await expect(client.tryAcquire('lock:b', { leaseMs: 90 * 86_400_000 })).rejects.toMatchObject({
    id: 'invalid_option',
  });
});

test('64 callers on one lock: never two inside, and everybody gets it', async () => {
  const { client } = realClient(server);
  let inside = 0;
  let most = 0;
  let fences: number[] = [];
  const work = Array.from({ length: 64 }, () =>
    client.withLock(
      'lock:a',
      { leaseMs: 5000, waitMs: 20_000, retry: { baseMs: 2, capMs: 20 } },
      async (lease) => {
        inside += 1;
        most = Math.max(most, inside);
        fences = [...fences, lease.fence ?? 0];
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      },
    ),
  );
  await Promise.all(work);
  expect(most).toBe(1);
  expect(fences).toHaveLength(64);
  expect(fences).toEqual([...fences].sort((a, b) => a - b));
});

test('binary keys and a key prefix lock what they say', async () => {
  const redis = server.client({ keyPrefix: 'app:' });
  const { client, log } = realClient({ redis });
  const key = Buffer.from([0xff, 0x00, 0x7b]);
  const lease = await client.acquire(key, { leaseMs: 5000 });
  await client.acquire('lock:{t}:a', { leaseMs: 5000 });
  expect(await admin.exists(Buffer.concat([Buffer.from('app:'), key]), 'app:lock:{t}:a')).toBe(2);
  expect(log.last('acquire').resource).toBe('default');
  expect(await lease.check()).toMatchObject({ outcome: 'held' });
  await lease.release();
  expect(await admin.exists(Buffer.concat([Buffer.from('app:'), key]))).toBe(0);
});

test('SCRIPT FLUSH under a held lock is not noticed', async () => {
  const { client, log } = realClient(server);
  const lease = await client.acquire('lock:a', { leaseMs: 5000 });
  await admin.script('FLUSH');
  expect(await lease.renew()).toMatchObject({ outcome: 'renewed' });
  await admin.script('FLUSH');
  expect(await lease.release()).toEqual({ outcome: 'released' });
  expect(log.story).toEqual(['acquire acquired', 'renew renewed', 'release released']);
});

// redis-cli and some libraries leave such keys
test('waiting for a key without expiry says that waiting is in vain', async () => {
  const { client } = realClient(server);
  await admin.set('lock:a', 'somebody');
  const options = { leaseMs: 1000, waitMs: 20 };
  const refused = await client.acquire('lock:a', options).catch((error: Error) => error);
  expect(refused).toMatchObject({ reason: 'wait_limit', leftMs: null });
  expect(String(refused)).toContain('its key has no expiry');
  await admin.pexpire('lock:a', 60_000);
  const later = await client.acquire('lock:a', options).catch((error: Error) => error);
  expect(later).toMatchObject({ reason: 'wait_limit', leftMs: expect.any(Number) });
  expect(String(later)).not.toContain('expiry');
});
