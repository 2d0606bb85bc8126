import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { REPLY_GRACE_MS } from '../../../client/index.js';
import { makeBench, notingTokens } from './lock-bench.js';

function reply(text: string): Error {
  const error = new Error(text);
  error.name = 'ReplyError';
  return error;
}

test('a contended try answers at once, with what is left of the other lease', async () => {
  const { client, server } = makeBench();
  server.steal('lock:a', 700);
  expect(await client.tryAcquire('lock:a', { leaseMs: 1000, waitMs: 5000 })).toEqual({
    outcome: 'contended',
    leftMs: 700,
  });
  expect(server.commands).toHaveLength(1);
});

test('acquire without waitMs throws when contended, and names no key', async () => {
  const { client, server } = makeBench();
  server.steal('lock:secret-customer-7');
  const error = await client.acquire('lock:secret-customer-7', { leaseMs: 1000 }).catch((reason) => reason);
  expect(error).toMatchObject({
    name: 'LockContendedError',
    id: 'acquire_contended',
    outcome: 'contended',
    leftMs: 10_000,
  });
  expect(error.message).not.toContain('customer');
  expect(error.message).toContain(error.lock);
});

test('a waiter gets the lock when it becomes free', async () => {
  const { client, clock, server, log } = makeBench();
  server.steal('lock:a', 300);
  const acquire = client.acquire('lock:a', { leaseMs: 1000, waitMs: 2000 });
  await clock.advance(900);
  expect((await acquire).isValid()).toBe(true);
  expect(log.last('acquire')).toMatchObject({ outcome: 'acquired', mode: 'wait' });
});

test('pauses between attempts grow, stay under their cap, and follow no pattern', async () => {
  const { client, clock, server } = makeBench();
  server.steal('lock:a', 60_000);
  const times: number[] = [];
  server.onCommand = () => times.push(clock.monoMs());
  const retry = { baseMs: 10, capMs: 200 };
  const acquire = client.acquire('lock:a', { leaseMs: 1000, waitMs: 4000, retry }).catch(() => {});
  await clock.advance(4000);
  await acquire;
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(pauses[0]).toBeLessThanOrEqual(10);
  expect(Math.max(...pauses)).toBeGreaterThan(100);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(200);
  expect(new Set(pauses).size).toBeGreaterThan(10);
});

test('a last attempt is made at the wait limit itself', async () => {
  const { client, clock, server } = makeBench({ random: () => 0.999999 });
  server.steal('lock:a', 95);
  const acquire = client.acquire('lock:a', {
    leaseMs: 1000,
    waitMs: 100,
    retry: { baseMs: 60_000, capMs: 60_000 },
  });
  await clock.advance(100);
  await expect(acquire).resolves.toBeDefined();
  expect(server.commands).toHaveLength(2);
});

test('a silent Redis does not hold a waiter beyond its limit and the grace', async () => {
  const { client, clock, server, log } = makeBench();
  server.fate = { kind: 'silence' };
  const acquire = client.acquire('lock:a', { leaseMs: 10_000, waitMs: 300 }).catch((error) => error);
  await clock.advance(300 + REPLY_GRACE_MS);
  expect(await acquire).toMatchObject({ id: 'acquire_unknown', reason: 'command_timeout' });
  expect(log.last('acquire').waitMs).toBe(300 + REPLY_GRACE_MS);
});

test('a silent Redis ends a try at the command time-out', async () => {
  const { client, clock, server } = makeBench({ commandTimeoutMs: 200 });
  server.fate = { kind: 'silence' };
  const attempt = client.tryAcquire('lock:a', { leaseMs: 10_000 });
  await clock.advance(200);
  expect(await attempt).toMatchObject({ outcome: 'unknown', reason: 'command_timeout' });
  expect(server.commands).toEqual(['acquire lock:a', 'release lock:a']);
});

test('an answer slower than the lease is no grant, and is taken back', async () => {
  const { client, clock, server, log } = makeBench();
  server.fates.push({ kind: 'answer', replyMs: 150 });
  const attempt = client.tryAcquire('lock:a', { leaseMs: 150 });
  await clock.advance(150);
  expect(await attempt).toEqual({ outcome: 'timeout', reason: 'slow_reply' });
  expect(log.story).toEqual(['acquire timeout (slow_reply)']);
  expect(server.commands).toEqual(['acquire lock:a', 'release lock:a']);
});

test('the lease counts from the send, not from the answer', async () => {
  const { client, clock, server } = makeBench();
  server.fates.push({ kind: 'answer', replyMs: 400 });
  const attempt = client.tryAcquire('lock:a', { leaseMs: 1000 });
  await clock.advance(400);
  const result = await attempt;
  expect(result.outcome === 'acquired' && result.lease.remainingMs()).toBe(600);
});

test('a lock that comes too late for the deadline is given back', async () => {
  const { client, clock, server, log } = makeBench();
  server.fates.push({ kind: 'answer', replyMs: 60 });
  const options = { leaseMs: 1000, deadline: clock.wallMs() + 100, workTimeoutMs: 50 };
  const attempt = client.tryAcquire('lock:a', options);
  await clock.advance(60);
  expect(await attempt).toEqual({ outcome: 'timeout', reason: 'deadline' });
  await clock.settle();
  expect(server.leftMs('lock:a')).toBeUndefined();
  expect(log.story).toEqual(['acquire timeout (deadline)']);
});

test('a deadline that has passed sends nothing', async () => {
  const { client, clock, server } = makeBench();
  const options = { leaseMs: 1000, deadline: new Date(clock.wallMs() - 1) };
  expect(await client.tryAcquire('lock:a', options)).toEqual({ outcome: 'timeout', reason: 'deadline' });
  expect(server.commands).toEqual([]);
});

test('a deadline ends the waiting before waitMs does', async () => {
  const { client, clock, server, log } = makeBench();
  server.steal('lock:a', 60_000);
  const options = { leaseMs: 1000, waitMs: 10_000, deadline: clock.wallMs() + 500 };
  const acquire = client.acquire('lock:a', options).catch((error) => error);
  await clock.advance(500);
  expect(await acquire).toMatchObject({ id: 'acquire_timeout', reason: 'deadline' });
  expect(log.last('acquire').waitMs).toBeLessThanOrEqual(500);
});

test.each([3_600_000, -3_600_000])(
  'a wall clock that jumps by %i ms changes no wait, no hold and no lease',
  async (jumpMs) => {
    const { client, clock, server, log } = makeBench();
    server.steal('lock:a', 1000);
    const acquire = client.acquire('lock:a', {
      leaseMs: 5000,
      waitMs: 3000,
      deadline: clock.wallMs() + 2900,
    });
    await clock.advance(500);
    clock.jumpWall(jumpMs);
    await clock.advance(1500);
    const lease = await acquire;
    clock.jumpWall(-2 * jumpMs);
    await clock.advance(2000);
    expect(lease.isValid()).toBe(true);
    await lease.release();
    expect(log.last('acquire').waitMs).toBeGreaterThanOrEqual(1000);
    expect(log.last('acquire').waitMs).toBeLessThanOrEqual(2000);
    expect(log.last('release').holdMs).toBeGreaterThanOrEqual(2000);
    expect(log.last('release').holdMs).toBeLessThanOrEqual(3000);
  },
);

test.each([
  'LOADING Redis is loading',
  'READONLY replica',
  'CLUSTERDOWN The cluster is down',
  'OOM command not allowed',
])('waiting goes on through a transient error: %s', async (text) => {
  const { client, clock, server, log } = makeBench();
  server.fates.push({ kind: 'fail', error: reply(text) }, { kind: 'fail', error: reply(text) });
  const acquire = client.acquire('lock:a', { leaseMs: 1000, waitMs: 1000 });
  await clock.advance(1000);
  await acquire;
  expect(log.last('acquire')).toMatchObject({ outcome: 'acquired', attempts: 3 });
  expect(server.commands.filter((command) => command.startsWith('release'))).toEqual([]);
});

test.each([
  ['CROSSSLOT Keys in request', 'cross_slot'],
  ['NOPERM this user has no permissions', 'no_permission'],
  ['NOAUTH Authentication required.', 'no_auth'],
  ['WRONGTYPE Operation against a key', 'wrong_type'],
])('waiting ends at once at a final error: %s', async (text, reason) => {
  const { client, server, log } = makeBench();
  server.fate = { kind: 'fail', error: reply(text) };
  const error = await client.acquire('lock:a', { leaseMs: 1000, waitMs: 60_000 }).catch((fault) => fault);
  expect(error).toMatchObject({ id: 'acquire_failed', outcome: 'error', reason });
  expect(error.cause.message).toBe(text);
  expect(log.story).toEqual([`acquire error (${reason})`]);
  expect(server.commands).toEqual(['acquire lock:a']);
});

test('an error that lasts until the limit is told as itself, not as contention', async () => {
  const { client, clock, server, log } = makeBench();
  server.fate = { kind: 'fail', error: reply('LOADING Redis is loading') };
  const acquire = client.acquire('lock:a', { leaseMs: 1000, waitMs: 200 }).catch((fault) => fault);
  await clock.advance(200);
  expect(await acquire).toMatchObject({ outcome: 'error', reason: 'loading' });
  expect(log.story).toEqual(['acquire error (loading)']);
});

test('a grant that came after the call was over is taken back a second time', async () => {
  const { client, clock, server } = makeBench({ commandTimeoutMs: 100 });
  server.fates.push({ kind: 'answer', replyMs: 300 });
  const attempt = client.tryAcquire('lock:a', { leaseMs: 10_000 });
  await clock.advance(100);
  expect((await attempt).outcome).toBe('unknown');
  await clock.advance(300);
  expect(server.commands).toEqual(['acquire lock:a', 'release lock:a', 'release lock:a']);
});

test('each call has its own token, kept across its resends', async () => {
  const tokens: string[] = [];
  const { client, clock, server } = makeBench({ wrapScripts: notingTokens(tokens) });
  server.steal('lock:a', 60_000);
  const calls = [1, 2].map(() => client.acquire('lock:a', { leaseMs: 1000, waitMs: 300 }).catch(() => {}));
  await clock.advance(300);
  await Promise.all(calls);
  expect(new Set(tokens).size).toBe(2);
  expect(tokens.length).toBeGreaterThan(4);
  // 24 characters of base64url are 144 bits.
  for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{24}$/);
});

test('no timer is left when calls are over', async () => {
  const { client, clock, server } = makeBench();
  server.steal('lock:a', 60_000);
  const acquire = client.acquire('lock:a', { leaseMs: 1000, waitMs: 100 }).catch(() => {});
  await clock.advance(100);
  await acquire;
  await clock.advance(2000);
  expect(clock.pendingTimers).toBe(0);
});

test('a signal that outlives many calls keeps nothing of them', async () => {
  const { client, clock, server } = makeBench();
  const { signal } = new AbortController();
  await client.tryAcquire('lock:a', { leaseMs: 1000, signal });
  server.steal('lock:b', 60_000);
  await client.tryAcquire('lock:b', { leaseMs: 1000, signal });
  const waiting = client.acquire('lock:b', { leaseMs: 1000, waitMs: 50, signal }).catch(() => {});
  await clock.advance(50);
  await waiting;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
