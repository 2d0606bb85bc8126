import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { LeaseLostError } from '../../../client/index.js';
import { ownerDigest } from '../../../contract/lock-id.js';
import { makeBench, notingTokens } from './lock-bench.js';

test('a synchronous stall beyond the lease is seen at once, before any timer', async () => {
  const { grant, clock, log } = makeBench();
  const lease = await grant();
  const { signal } = lease;
  clock.stall(3000);
  expect(lease.isValid()).toBe(false);
  expect(lease.remainingMs()).toBe(0);
  expect(signal.aborted).toBe(true);
  await clock.settle();
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline']);
  expect(log.last('lost').loopDelayMs).toBeGreaterThan(2900);
});

test('the signal itself shows a stall: reading it is asking', async () => {
  const { grant, clock } = makeBench();
  const lease = await grant();
  clock.stall(1000);
  expect(lease.signal.aborted).toBe(true);
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
});

test('the signal fires at the deadline though Redis is silent, and is not aborted by a release', async () => {
  const { grant, clock, server } = makeBench();
  const lost = await grant('lock:a');
  const kept = await grant('lock:b');
  const { signal } = kept;
  await kept.release();
  server.fate = { kind: 'silence' };
  let aborted = 0;
  lost.signal.addEventListener('abort', () => {
    aborted += 1;
  });
  await clock.advance(1000);
  expect(aborted).toBe(1);
  expect(signal.aborted).toBe(false);
});

test('release is sent once: repeated and concurrent calls share one answer', async () => {
  const { grant, server, log } = makeBench();
  const lease = await grant();
  const answers = await Promise.all([lease.release(), lease.release(), lease.release()]);
  expect(answers).toEqual([{ outcome: 'released' }, { outcome: 'released' }, { outcome: 'released' }]);
  expect(await lease.release()).toEqual({ outcome: 'released' });
  expect(server.commands).toEqual(['acquire lock:stock:1', 'release lock:stock:1']);
  expect(log.story).toEqual(['acquire acquired', 'release released']);
  expect(lease.isValid()).toBe(false);
  expect(await lease.check()).toEqual({ outcome: 'ended' });
  expect(await lease.renew()).toEqual({ outcome: 'ended' });
});

test('a release without an answer is unknown in time, and goes on in the background', async () => {
  const { grant, clock, server, log, client } = makeBench({ commandTimeoutMs: 200 });
  const lease = await grant('lock:a', { leaseMs: 60_000 });
  server.fates.push({ kind: 'fail', error: new Error('Connection is closed.') });
  expect(await lease.release()).toMatchObject({ outcome: 'unknown', reason: 'connection' });
  await clock.advance(1000);
  expect(log.story).toEqual(['acquire acquired', 'release unknown (connection)']);
  expect(server.leftMs('lock:a')).toBeUndefined();
  expect(client.stats).toMatchObject({ held: 0, cleanUps: 0 });
});

test('await using releases at the end of the block', async () => {
  const { client, server } = makeBench();
  {
    await using lease = await client.acquire('lock:a', { leaseMs: 1000 });
    expect(lease.isValid()).toBe(true);
  }
  expect(server.leftMs('lock:a')).toBeUndefined();
});

test('await using throws a loss that the block had no way to know', async () => {
  const { client, clock } = makeBench();
  const block = async () => {
    await using _lease = await client.acquire('lock:a', { leaseMs: 1000 });
    await clock.advance(1001);
  };
  await expect(block()).rejects.toBeInstanceOf(LeaseLostError);
});

test('await using does not throw a loss over the one that the block threw itself', async () => {
  const { client, clock } = makeBench();
  const block = async () => {
    await using lease = await client.acquire('lock:a', { leaseMs: 1000 });
    await clock.advance(1001);
    lease.signal.throwIfAborted();
  };
  await expect(block()).rejects.toMatchObject({ name: 'LeaseLostError', by: 'deadline' });
});

test('with fence: false there is no fence, and nothing to report about one', async () => {
  const { grant, log } = makeBench();
  const lease = await grant('lock:a', { leaseMs: 1000, fence: false });
  expect(lease.fence).toBeNull();
  expect(() => lease.reportFence('accepted', 1)).toThrow(/fence: true/);
  expect(log.last('acquire')).not.toHaveProperty('fence');
});

test.each([-1, 1.5, Number.NaN, '7'])('a seen fence of %o is refused', async (seen) => {
  const { grant } = makeBench();
  const lease = await grant();
  expect(() => lease.reportFence('accepted', seen as number)).toThrow(/whole number/);
});

test('neither a printed lease nor an error shows the token or the key', async () => {
  const tokens: string[] = [];
  const { grant, log, clock } = makeBench({ wrapScripts: notingTokens(tokens) });
  const lease = await grant('lock:customer:77', { leaseMs: 1000 });
  await clock.advance(1000);
  const shown =
    inspect([lease, lease.loss, log.events], { depth: 10, showHidden: true }) +
    JSON.stringify([lease, lease.loss]);
  expect(tokens).toHaveLength(1);
  expect(shown).not.toContain(tokens[0]);
  expect(shown).toContain(ownerDigest(tokens[0] ?? ''));
  expect(inspect(lease.loss)).not.toContain('customer:77');
});

test('the settling time on the clock of Redis is a lower bound, and within one round trip', async () => {
  const { grant, clock, server, log } = makeBench();
  const lease = await grant();
  await clock.advance(300);
  const settledUs = server.serverUs;
  server.fate = { kind: 'answer', replyMs: 40 };
  const release = lease.release();
  await clock.advance(40);
  await release;
  const told = log.last('release').settledUs ?? 0;
  expect(told).toBeLessThanOrEqual(settledUs);
  expect(settledUs - told).toBeLessThanOrEqual(40_000);
});

test('a heartbeat lists each hold, also a lost one until its release was answered', async () => {
  const { grant, clock, log } = makeBench();
  const lease = await grant('lock:stock:1', { leaseMs: 1000, watchdog: false });
  await grant('lock:b', { leaseMs: 5000 });
  await clock.advance(1200);
  const holds = [...(log.source?.holds() ?? [])];
  expect(holds).toHaveLength(2);
  expect(holds[0]).toMatchObject({ resource: 'stock', fence: 41, leaseMs: 1000, leftMs: 0, renewals: 0 });
  expect(holds[0]?.keyBase64).toBe(Buffer.from('lock:stock:1').toString('base64'));
  expect(log.source?.shortestLeaseMs()).toBe(1000);
  await lease.release();
  expect(log.source?.holdCount()).toBe(1);
  expect(log.source?.shortestLeaseMs()).toBe(5000);
});

test('a heartbeat gives no lease to a hold that Redis said is lost, though its deadline is to come', async () => {
  const { grant, server, log } = makeBench();
  const lease = await grant('lock:a', { leaseMs: 5000 });
  server.delete('lock:a');
  await lease.check();
  expect([...(log.source?.holds() ?? [])]).toMatchObject([{ leaseMs: 5000, leftMs: 0 }]);
});

test('the emitter hears of the first hold, the last, and a shorter lease, but not of each lock', async () => {
  const { grant, log } = makeBench();
  const first = await grant('lock:a', { leaseMs: 1000 });
  expect(log.holdChanges).toBe(1);
  const second = await grant('lock:b', { leaseMs: 1000 });
  expect(log.holdChanges).toBe(1);
  await second.renew(500);
  expect(log.holdChanges).toBe(2);
  await second.release();
  expect(log.holdChanges).toBe(3);
  await first.release();
  expect(log.holdChanges).toBe(4);
});

test('a shortening renewal without an answer counts as applied', async () => {
  const { grant, server, clock, log } = makeBench();
  const lease = await grant('lock:a', { leaseMs: 60_000 });
  server.fates.push({ kind: 'lose', error: new Error('Command timed out') });
  expect(await lease.renew(500)).toMatchObject({ outcome: 'unknown', reason: 'command_timeout' });
  expect(lease.remainingMs()).toBe(500);
  await clock.advance(500);
  expect(log.story.at(-1)).toBe('lost by deadline');
});

test('a key of another type: the release is an error, and the hold counts as lost', async () => {
  const { grant, log } = makeBench({
    wrapScripts: (scripts) => ({ ...scripts, release: async () => ({ word: 'wrong_type', of: 'lock' }) }),
  });
  const lease = await grant();
  expect(await lease.release()).toEqual({ outcome: 'error', reason: 'wrong_type' });
  expect(log.story).toEqual(['acquire acquired', 'lost by release', 'release error (wrong_type)']);
});

test('a release from within the signal of the loss, which a release has just noticed, is the same release', async () => {
  const { clock, grant, server, log } = makeBench();
  const lease = await grant('lock:a', { leaseMs: 100 });
  let inner: Promise<unknown> | undefined;
  lease.signal.addEventListener('abort', () => {
    inner = lease.release();
  });
  // The event loop stood still: the deadline has passed, and no timer has told it.
  clock.stall(150);
  const outer = lease.release();
  expect(inner).toBe(outer);
  await outer;
  expect(server.commands.filter((command) => command.startsWith('release'))).toHaveLength(1);
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline', 'release expired']);
});
