import { expect, test } from 'vitest';
import { makeBench } from './lock-bench.js';

const WATCHED = { leaseMs: 900, watchdog: true } as const;
const LOST_ANSWER = new Error('Connection is closed.');

function reply(text: string): Error {
  const error = new Error(text);
  error.name = 'ReplyError';
  return error;
}

test('renews at a third of the lease, and keeps the lock for as long as the work lasts', async () => {
  const { grant, clock, server, log } = makeBench();
  const lease = await grant('lock:a', WATCHED);
  await clock.advance(2950);
  expect(lease.isValid()).toBe(true);
  expect(server.commands.filter((command) => command.startsWith('renew'))).toHaveLength(9);
  expect(log.last('renew')).toMatchObject({ outcome: 'renewed', leaseMs: 900, leftMs: 600, lateMs: 0 });
  await lease.release();
  expect(log.last('release')).toMatchObject({ renewals: 9, lost: false });
  expect(log.last('release').peakUse).toBeCloseTo(1 / 3, 2);
});

test('tells by how much a renewal was late and how much lease was left', async () => {
  const { grant, clock, log } = makeBench();
  await grant('lock:a', WATCHED);
  await clock.advance(100);
  clock.stall(500);
  await clock.settle();
  await clock.settle();
  expect(log.last('renew')).toMatchObject({ outcome: 'renewed', lateMs: 300, leftMs: 300 });
});

test('tries again after a transient error, within the lease', async () => {
  const { grant, clock, server, log } = makeBench();
  const lease = await grant('lock:a', WATCHED);
  server.fates.push({ kind: 'fail', error: reply('LOADING') }, { kind: 'fail', error: LOST_ANSWER });
  await clock.advance(600);
  expect(log.story).toEqual([
    'acquire acquired',
    'renew error (loading)',
    'renew unknown (connection)',
    'renew renewed',
  ]);
  expect(lease.isValid()).toBe(true);
});

test('is never in flight twice, and a silent Redis does not hide the loss', async () => {
  const { grant, clock, server, log } = makeBench();
  const lease = await grant('lock:a', WATCHED);
  const { signal } = lease;
  server.fate = { kind: 'silence' };
  await clock.advance(900);
  expect(server.commands.filter((command) => command.startsWith('renew'))).toHaveLength(1);
  expect(signal.aborted).toBe(true);
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline']);
});

test('gives up a renewal whose connection went, and tries again on the new one', async () => {
  const { grant, clock, server, redis, log } = makeBench();
  await grant('lock:a', WATCHED);
  server.fates.push({ kind: 'silence' });
  await clock.advance(310);
  redis.emit('close');
  await clock.advance(200);
  expect(log.story).toEqual(['acquire acquired', 'renew unknown (connection)', 'renew renewed']);
});

test('never takes a lock back: after another held it, the hold is lost', async () => {
  const { grant, clock, server, log } = makeBench();
  await grant('lock:a', WATCHED);
  server.delete('lock:a');
  await clock.advance(5000);
  expect(server.leftMs('lock:a')).toBeUndefined();
  expect(log.story).toEqual(['acquire acquired', 'renew expired', 'lost by renew']);
});

test('stops with the release: nothing is sent and no timer stays', async () => {
  const { grant, clock, server } = makeBench();
  const lease = await grant('lock:a', WATCHED);
  await clock.advance(400);
  await lease.release();
  const sent = server.commands.length;
  await clock.advance(10_000);
  expect(server.commands).toHaveLength(sent);
  expect(clock.pendingTimers).toBe(0);
});

test('an answer that comes after the release tells nothing and renews nothing', async () => {
  const { grant, clock, server, log } = makeBench();
  const lease = await grant('lock:a', WATCHED);
  server.fates.push({ kind: 'answer', replyMs: 200 });
  await clock.advance(350);
  await lease.release();
  await clock.advance(5000);
  expect(log.story).toEqual(['acquire acquired', 'release released']);
  expect(server.leftMs('lock:a')).toBeUndefined();
});

test('stops at an error that no retry can mend; the lease then ends by its deadline', async () => {
  const { grant, clock, server, log } = makeBench();
  await grant('lock:a', WATCHED);
  server.fate = { kind: 'fail', error: reply('NOPERM this user has no permissions') };
  await clock.advance(2000);
  expect(log.story).toEqual(['acquire acquired', 'renew error (no_permission)', 'lost by deadline']);
});

test('waits for a renewal by hand, and plans from it', async () => {
  const { grant, clock, server, log } = makeBench();
  const lease = await grant('lock:a', WATCHED);
  await clock.advance(250);
  server.fates.push({ kind: 'answer', replyMs: 100 });
  const renewed = lease.renew();
  await clock.advance(110);
  expect(await renewed).toEqual({ outcome: 'renewed', remainingMs: 800 });
  await clock.advance(180);
  expect(log.story).toEqual(['acquire acquired', 'renew renewed']);
  await clock.advance(20);
  expect(log.story).toEqual(['acquire acquired', 'renew renewed', 'renew renewed']);
});

test('renewals by hand wait for each other', async () => {
  const { grant, clock, server } = makeBench();
  const lease = await grant('lock:a', { leaseMs: 1000 });
  server.fate = { kind: 'answer', replyMs: 100 };
  const both = Promise.all([lease.renew(2000), lease.renew(3000)]);
  await clock.advance(50);
  expect(server.commands).toHaveLength(2);
  await clock.advance(200);
  expect(await both).toMatchObject([{ outcome: 'renewed' }, { outcome: 'renewed' }]);
  expect(server.commands).toHaveLength(3);
});

test('a stall beyond the lease ends in one loss and no renewal', async () => {
  const { grant, clock, log, server } = makeBench();
  await grant('lock:a', WATCHED);
  clock.stall(1500);
  await clock.settle();
  await clock.advance(3000);
  expect(log.story).toEqual(['acquire acquired', 'lost by deadline']);
  expect(server.commands).toEqual(['acquire lock:a']);
});

test('the longest lease needs few renewals and no timer that overflows', async () => {
  const { grant, clock, server } = makeBench();
  await grant('lock:a', { leaseMs: 86_400_000, watchdog: true });
  expect(clock.nextTimerInMs).toBeLessThan(86_400_000);
  clock.jumpMono(28_800_000);
  await clock.settle();
  await clock.settle();
  expect(server.commands.filter((command) => command.startsWith('renew'))).toHaveLength(1);
});
