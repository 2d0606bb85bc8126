import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, expect, test } from 'vitest';
import { MAX_CLEAN_UPS } from '../../../client/clean-up.js';
import { DIAGNOSTICS_CHANNEL, type DiagnosticsMessage, LockClient } from '../../../client/index.js';
import { lockId } from '../../../contract/lock-id.js';
import { fakeConnection } from './fake-lock-server.js';
import { makeBench } from './lock-bench.js';

const heard: DiagnosticsMessage[] = [];
const listener = (message: unknown) => heard.push(message as DiagnosticsMessage);

afterEach(() => {
  unsubscribe(DIAGNOSTICS_CHANNEL, listener);
  heard.length = 0;
});

test('events go to subscribers within the process too, without the key', async () => {
  const { grant, log } = makeBench({ store: 'orders' });
  subscribe(DIAGNOSTICS_CHANNEL, listener);
  await (await grant()).release();
  expect(heard.map(({ store, event }) => `${store} ${event.kind}`)).toEqual([
    'orders acquire',
    'orders release',
  ]);
  expect(heard[0]?.event).not.toHaveProperty('keyBase64');
  expect(log.last('acquire')).toHaveProperty('keyBase64');
  unsubscribe(DIAGNOSTICS_CHANNEL, listener);
  expect(channel(DIAGNOSTICS_CHANNEL).hasSubscribers).toBe(false);
});

test('the trace id of the moment is on the event of the acquire', async () => {
  let id: string | undefined = '4bf92f3577b34da6a3ce929d0e0e4736';
  const { grant, log } = makeBench({ traceId: () => id });
  await grant('lock:a');
  expect(log.last('acquire')).toMatchObject({ traceId: id });
  for (const spoilt of [undefined, '', 'two words', 'x'.repeat(65)]) {
    id = spoilt;
    await grant(`lock:${spoilt}`);
    expect(log.last('acquire')).not.toHaveProperty('traceId');
  }
});

test('a throwing tracer fails no lock', async () => {
  const { grant } = makeBench({
    traceId: () => {
      throw new Error('no tracer');
    },
  });
  expect((await grant()).isValid()).toBe(true);
});

test('a lease that the work can outlive is warned of, once per resource', async () => {
  const { grant, warnings } = makeBench();
  for (const key of ['lock:stock:1', 'lock:stock:2', 'lock:order:1'])
    await grant(key, { leaseMs: 1000, workTimeoutMs: 3000 });
  expect(warnings.map(({ code, message }) => `${code} ${/"(.*?)"/.exec(message)?.[1]}`)).toEqual([
    'lease_shorter_than_work stock',
    'lease_shorter_than_work order',
  ]);
  expect(warnings[0]?.message).toMatch(/lease of 1000 ms.*3000 ms.*watchdog/);
});

test('with a watchdog, maxHoldMs is what must outlive the work', async () => {
  const { grant, warnings } = makeBench();
  await grant('lock:a', { leaseMs: 1000, watchdog: true, workTimeoutMs: 3000 });
  expect(warnings).toEqual([]);
  await grant('lock:b', { leaseMs: 1000, watchdog: true, workTimeoutMs: 30_000 });
  expect(warnings.map(({ code }) => code)).toEqual(['max_hold_shorter_than_work']);
});

test('a listener of warnings that throws fails no lock', async () => {
  const { grant } = makeBench({
    onWarning: () => {
      throw new Error('no');
    },
  });
  expect((await grant('lock:a', { leaseMs: 10, workTimeoutMs: 20 })).isValid()).toBe(true);
});

test('the store is part of every lock id', async () => {
  const { grant, log } = makeBench({ store: 'orders' });
  await grant('lock:a');
  expect(log.last('acquire').lock).toBe(lockId('orders', 'lock:a'));
});

test.each(['', 'a b', 'ü', 'x'.repeat(65)])('a store named %o is refused', (store) => {
  expect(() => makeBench({ store })).toThrow(/store must be/);
});

test('a prefix of ioredis is part of the stored key, for strings and Buffers', async () => {
  const redis = fakeConnection();
  redis.options.keyPrefix = 'app:';
  const { grant, log } = makeBench({ redis, keyPrefixes: ['app:lock:'] });
  await grant('lock:stock:1');
  expect(log.last('acquire')).toMatchObject({
    lock: lockId('default', 'app:lock:stock:1'),
    resource: 'stock',
  });
  await grant(Buffer.from([0x6c, 0xff, 0x00]) as unknown as string);
  const full = Buffer.from([0x61, 0x70, 0x70, 0x3a, 0x6c, 0xff, 0x00]);
  expect(log.last('acquire')).toMatchObject({
    lock: lockId('default', full),
    keyBase64: full.toString('base64'),
  });
});

test('a resource of the call wins over the rules, and rules over the segment', async () => {
  const { grant, log } = makeBench({ resourceRules: [{ pattern: 'lock:stock:*', name: 'goods' }] });
  await grant('lock:stock:1');
  expect(log.last('acquire').resource).toBe('goods');
  const lease = await grant('lock:stock:2', { leaseMs: 1000, resource: 'special\n' });
  expect(lease.resource).toBe('special_');
  expect(log.last('acquire').resource).toBe('special_');
});

test('a key too long for the contract is left out of the events, and locks all the same', async () => {
  const { grant, log } = makeBench();
  await grant(`lock:${'x'.repeat(2000)}`);
  expect(log.last('acquire')).not.toHaveProperty('keyBase64');
});

test('clean-ups are bounded, and what is beyond is counted', async () => {
  const { client, clock, server } = makeBench();
  server.fate = { kind: 'fail', error: new Error('Connection is closed.') };
  const calls = Array.from({ length: MAX_CLEAN_UPS + 5 }, (_, index) =>
    client.tryAcquire(`lock:${index}`, { leaseMs: 500 }),
  );
  await Promise.all(calls);
  expect(client.stats).toMatchObject({ acquiring: 0, cleanUps: MAX_CLEAN_UPS, cleanUpsDropped: 5 });
  await clock.advance(5000);
  expect(client.stats.cleanUps).toBe(0);
});

test('a failed clean-up is tried again until Redis has answered', async () => {
  const { client, clock, server } = makeBench();
  const lost = { kind: 'fail', error: new Error('Connection is closed.') } as const;
  server.fates.push({ kind: 'lose', error: new Error('Connection is closed.') }, lost, lost);
  await client.tryAcquire('lock:a', { leaseMs: 30_000 });
  expect(server.leftMs('lock:a')).toBe(30_000);
  await clock.advance(1000);
  expect(server.leftMs('lock:a')).toBeUndefined();
  expect(server.commands).toEqual(['acquire lock:a', 'release lock:a', 'release lock:a', 'release lock:a']);
});

test('while the connection is not ready nothing is sent, and what waits can be taken back', async () => {
  const redis = fakeConnection('reconnecting');
  const { client, clock, server, log } = makeBench({ redis });
  const attempt = client.tryAcquire('lock:a', { leaseMs: 1000 });
  await clock.advance(1000);
  expect(await attempt).toMatchObject({ outcome: 'error', reason: 'connection' });
  redis.status = 'ready';
  redis.emit('ready');
  await clock.settle();
  expect(server.commands).toEqual([]);
  expect(log.story).toEqual(['acquire error (connection)']);
});

test('a lease counts from the send even when the send had to wait for the connection', async () => {
  const redis = fakeConnection('connecting');
  const { client, clock } = makeBench({ redis });
  const attempt = client.tryAcquire('lock:a', { leaseMs: 1000 });
  await clock.advance(400);
  redis.status = 'ready';
  redis.emit('ready');
  await clock.settle();
  const result = await attempt;
  expect(result.outcome === 'acquired' && result.lease.remainingMs()).toBe(1000);
});

test('a connection closed for good fails waiting commands at once', async () => {
  const redis = fakeConnection('reconnecting');
  const { client } = makeBench({ redis });
  const attempt = client.tryAcquire('lock:a', { leaseMs: 1000 });
  redis.status = 'end';
  redis.emit('end');
  expect(await attempt).toMatchObject({ outcome: 'error', reason: 'connection' });
});

test('the run id of the server is asked for, and no listener stays after close', async () => {
  const { client, log, redis, clock } = makeBench();
  await clock.settle();
  expect(log.source?.server().id).toBe('a'.repeat(40));
  await client.close();
  expect(['ready', 'close', 'end'].map((name) => redis.listenerCount(name))).toEqual([0, 0, 0]);
});

test('times of a server that is not the one of the batch carry its id, or are left out', async () => {
  const redis = fakeConnection();
  const pending: { encode(): unknown }[] = [];
  const emitter = {
    open: () => ({
      emit: (event: { encode(): unknown }) => pending.push(event),
      holdsChanged: () => {},
      close: async () => {},
    }),
  };
  const { grant, clock } = makeBench({ redis, emitter });
  await clock.settle();
  await grant('lock:a');
  expect(pending[0]?.encode()).toHaveProperty('serverUs');
  expect(pending[0]?.encode()).not.toHaveProperty('serverId');
  redis.emit('close');
  expect(pending[0]?.encode()).toMatchObject({ serverUs: expect.any(Number), serverId: 'a'.repeat(40) });
});

test('closing ends waiting acquires, and gives up on a silent Redis in time', async () => {
  const { client, grant, clock, server, log } = makeBench();
  await grant('lock:b', { leaseMs: 60_000 });
  server.steal('lock:a', 60_000);
  const waiting = client.acquire('lock:a', { leaseMs: 1000, waitMs: 60_000 }).catch((error) => error);
  await clock.settle();
  server.fate = { kind: 'silence' };
  const closed = client.close(200);
  expect(client.close()).toBe(closed);
  await clock.advance(200);
  await closed;
  expect(await waiting).toMatchObject({ id: 'acquire_aborted', reason: 'closed' });
  expect(log.closedWithin).toBe(200);
  // The release keeps its own time limit; then nothing is left.
  expect(client.stats.held).toBe(1);
  await clock.advance(800);
  expect(client.stats.held).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

test('a client needs no options but a connection', async () => {
  const client = new LockClient({ redis: fakeConnection() });
  await client.close();
});
