import { expect, test } from 'vitest';
import { LeaseLostError } from '../../../client/index.js';
import { makeBench } from './lock-bench.js';

// The golden list of events of each story: what is told, in which order, and nothing else.

test('granted and released', async () => {
  const { client, clock, log } = makeBench();
  const work = client.withLock('lock:stock:1', { leaseMs: 1000 }, () => clock.advance(250));
  await work;
  expect(log.story).toEqual(['acquire acquired', 'release released']);
  expect(log.last('acquire')).toMatchObject({
    mode: 'try',
    attempts: 1,
    leaseMs: 1000,
    watchdog: false,
    resource: 'stock',
    fence: 41,
  });
  expect(log.last('release')).toMatchObject({
    holdMs: 250,
    leaseMs: 1000,
    renewals: 0,
    peakUse: 0.25,
    lost: false,
    fence: 41,
  });
});

test('waited and timed out: one event for all attempts', async () => {
  const { client, clock, server, log } = makeBench();
  server.steal('lock:stock:1', 60_000);
  const acquire = client.acquire('lock:stock:1', { leaseMs: 1000, waitMs: 2000 }).catch((error) => error);
  await clock.advance(2000);
  expect(await acquire).toMatchObject({ id: 'acquire_timeout', reason: 'wait_limit' });
  expect(log.story).toEqual(['acquire timeout (wait_limit)']);
  expect(log.last('acquire')).toMatchObject({ mode: 'wait', waitMs: 2000, attempts: server.commands.length });
  expect(server.commands.length).toBeGreaterThan(3);
});

test('lost by its deadline, then released', async () => {
  const { grant, clock, log } = makeBench();
  const lease = await grant();
  await clock.advance(1500);
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline']);
  expect(log.last('lost')).toMatchObject({ sinceGrantMs: 1000, leaseMs: 1000 });
  expect(await lease.release()).toEqual({ outcome: 'expired', latestFence: 41 });
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline', 'release expired']);
  expect(log.last('release')).toMatchObject({ holdMs: 1500, peakUse: 1.5, lost: true, latestFence: 41 });
  expect(log.urgent).toEqual(['lost', 'release']);
});

test('stolen while the work went on, found by the release', async () => {
  const { grant, server, log } = makeBench();
  const lease = await grant();
  server.steal('lock:stock:1');
  expect(await lease.release()).toEqual({ outcome: 'stolen', latestFence: 42 });
  expect(log.story).toEqual(['acquire acquired', 'lost by release', 'release stolen']);
  expect(log.last('lost')).toMatchObject({ latestFence: 42, fence: 41 });
  expect(lease.loss).toMatchObject({ by: 'release', overlapped: true });
  expect(server.leftMs('lock:stock:1')).toBe(10_000);
});

test('stolen, found by a check', async () => {
  const { grant, server, log } = makeBench();
  const lease = await grant();
  server.steal('lock:stock:1');
  expect(await lease.check()).toEqual({ outcome: 'stolen', latestFence: 42 });
  expect(await lease.check()).toEqual({ outcome: 'ended' });
  await lease.release();
  expect(log.story).toEqual(['acquire acquired', 'check stolen', 'lost by check', 'release stolen']);
});

test('stolen, found by the watchdog, which then stops for good', async () => {
  const { grant, server, clock, log } = makeBench();
  const lease = await grant('lock:stock:1', { leaseMs: 900, watchdog: true });
  await clock.advance(350);
  server.steal('lock:stock:1', 60_000);
  await clock.advance(5000);
  await lease.release();
  expect(log.story).toEqual([
    'acquire acquired',
    'renew renewed',
    'renew stolen',
    'lost by renew',
    'release stolen',
  ]);
  expect(server.commands.filter((command) => command.startsWith('renew'))).toHaveLength(2);
});

test('aborted before the first attempt: nothing is sent', async () => {
  const { client, server, log } = makeBench();
  const signal = AbortSignal.abort(new Error('no'));
  expect(await client.tryAcquire('lock:a', { leaseMs: 1000, signal })).toMatchObject({
    outcome: 'aborted',
    reason: 'signal',
  });
  expect(log.story).toEqual(['acquire aborted (signal)']);
  expect(log.last('acquire').attempts).toBe(0);
  expect(server.commands).toEqual([]);
});

test('aborted while an attempt is under way: what it was granted is taken back', async () => {
  const { client, clock, server, log } = makeBench();
  server.fate = { kind: 'answer', replyMs: 50 };
  const control = new AbortController();
  const acquire = client.tryAcquire('lock:a', { leaseMs: 1000, signal: control.signal });
  await clock.advance(10);
  control.abort();
  expect(await acquire).toMatchObject({ outcome: 'aborted', reason: 'signal' });
  await clock.advance(500);
  expect(log.story).toEqual(['acquire aborted (signal)']);
  expect(server.leftMs('lock:a')).toBeUndefined();
});

test('aborted in a pause between attempts: at once, and nothing to clean up', async () => {
  const { client, clock, server, log } = makeBench();
  server.steal('lock:a', 60_000);
  const control = new AbortController();
  const acquire = client
    .acquire('lock:a', { leaseMs: 1000, waitMs: 60_000, signal: control.signal })
    .catch((error) => error);
  await clock.advance(5000);
  const sent = server.commands.length;
  control.abort(new Error('enough'));
  expect(await acquire).toMatchObject({
    id: 'acquire_aborted',
    reason: 'signal',
    cause: { message: 'enough' },
  });
  await clock.advance(60_000);
  expect(log.story).toEqual(['acquire aborted (signal)']);
  expect(server.commands).toHaveLength(sent);
});

test('the watchdog up to maxHoldMs: given up, and no renewal afterwards', async () => {
  const { grant, clock, server, log } = makeBench();
  const lease = await grant('lock:stock:1', { leaseMs: 300, watchdog: true, maxHoldMs: 1000 });
  const { signal } = lease;
  await clock.advance(5000);
  expect(log.story.filter((line) => line === 'renew renewed')).toHaveLength(9);
  expect(log.story.at(-1)).toBe('lost by max_hold');
  expect(log.last('lost').sinceGrantMs).toBe(1000);
  expect(signal.reason).toMatchObject({ by: 'max_hold' });
  const sent = server.commands.length;
  await clock.advance(5000);
  expect(server.commands).toHaveLength(sent);
  await lease.release();
  expect(log.story.at(-1)).toBe('release expired');
  expect(log.last('release')).toMatchObject({ renewals: 9, lost: true });
});

test('unknown, then found held by its own token when asked again', async () => {
  const { client, clock, server, log } = makeBench();
  server.fates.push({ kind: 'lose', error: new Error('Connection is closed.') });
  const acquire = client.acquire('lock:a', { leaseMs: 1000, waitMs: 500 });
  await clock.advance(100);
  const lease = await acquire;
  expect(log.story).toEqual(['acquire acquired']);
  expect(log.last('acquire')).toMatchObject({ attempts: 2, fence: 41 });
  // The lease counts from the first send, which was the one that Redis granted.
  expect(lease.remainingMs()).toBe(900);
});

test('unknown, and the lock taken back in the background', async () => {
  const { client, clock, server, log } = makeBench();
  server.fates.push({ kind: 'lose', error: new Error('Connection is closed.') });
  expect(await client.tryAcquire('lock:a', { leaseMs: 30_000 })).toMatchObject({
    outcome: 'unknown',
    reason: 'connection',
  });
  await clock.settle();
  expect(log.story).toEqual(['acquire unknown (connection)']);
  expect(log.last('acquire')).toHaveProperty('owner');
  expect(server.commands).toEqual(['acquire lock:a', 'release lock:a']);
  expect(server.leftMs('lock:a')).toBeUndefined();
  expect(client.stats.cleanUps).toBe(0);
});

test('the client closes with a lock held: released and told, then flushed', async () => {
  const { client, grant, log, server, clock } = makeBench();
  await grant();
  await client.close(300);
  expect(log.story).toEqual(['acquire acquired', 'release released']);
  expect(log.closedWithin).toBe(300);
  expect(server.leftMs('lock:stock:1')).toBeUndefined();
  expect(await client.tryAcquire('lock:a', { leaseMs: 1000 })).toMatchObject({
    outcome: 'aborted',
    reason: 'closed',
  });
  await clock.advance(1000);
  expect(clock.pendingTimers).toBe(0);
});

test('marks and reports of the caller', async () => {
  const { grant, log, clock } = makeBench();
  const lease = await grant();
  await clock.advance(20);
  lease.committed();
  lease.reportFence('accepted', 40);
  lease.reportFence('rejected', 99);
  lease.reportDuplicate('absorbed');
  expect(log.story).toEqual([
    'acquire acquired',
    'commit',
    'fence accepted',
    'fence rejected',
    'duplicate absorbed',
  ]);
  expect(log.last('commit').sinceGrantMs).toBe(20);
  expect(log.last('fence')).toMatchObject({ fence: 41, seen: 99 });
});

test('a renewal by hand, of another length', async () => {
  const { grant, log, clock } = makeBench();
  const lease = await grant();
  await clock.advance(400);
  expect(await lease.renew(5000)).toEqual({ outcome: 'renewed', remainingMs: 5000 });
  await clock.advance(3000);
  expect(lease.isValid()).toBe(true);
  await lease.release();
  expect(log.story).toEqual(['acquire acquired', 'renew renewed', 'release released']);
  expect(log.last('renew')).toMatchObject({ leaseMs: 5000, leftMs: 600 });
  expect(log.last('renew')).not.toHaveProperty('lateMs');
  expect(log.last('release')).toMatchObject({ leaseMs: 5000, renewals: 1, peakUse: 0.6, holdMs: 3400 });
});

test('a loss is never told when the work settled first', async () => {
  const { grant, log, clock, server } = makeBench();
  const lease = await grant();
  server.fate = { kind: 'answer', replyMs: 800 };
  await clock.advance(900);
  const release = lease.release();
  await clock.advance(800);
  expect(await release).toEqual({ outcome: 'released' });
  expect(log.story).toEqual(['acquire acquired', 'release released']);
  expect(lease.loss).toBeUndefined();
});

test('a failed body: its error is told, and the lock given back', async () => {
  const { client, log } = makeBench();
  const work = client.withLock('lock:a', { leaseMs: 1000 }, () => Promise.reject(new Error('mine')));
  await expect(work).rejects.toThrow('mine');
  expect(log.story).toEqual(['acquire acquired', 'release released']);
});

test('a body that resolved on a lost lease is refused', async () => {
  const { client, clock, log } = makeBench();
  const work = client
    .withLock('lock:a', { leaseMs: 1000 }, () => clock.advance(1001))
    .catch((error) => error);
  const error = await work;
  expect(error).toBeInstanceOf(LeaseLostError);
  expect(error).toMatchObject({ id: 'lease_lost', by: 'deadline', resource: 'default' });
  await clock.settle();
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline', 'release expired']);
});

test('a loss never hides the error of the body', async () => {
  const { client, clock } = makeBench();
  const work = client.withLock('lock:a', { leaseMs: 1000 }, async () => {
    await clock.advance(1001);
    throw new Error('mine');
  });
  await expect(work).rejects.toThrow('mine');
});
