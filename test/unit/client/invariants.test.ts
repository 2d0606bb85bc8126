import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Lease } from '../../../client/index.js';
import type { Fate } from './fake-lock-server.js';
import { type EventLog, makeBench } from './lock-bench.js';

// Whatever Redis does and whenever the caller acts: what the client promises always holds.

const lost = new Error('Connection is closed.');
const readonly = Object.assign(new Error('READONLY no'), { name: 'ReplyError' });

const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>({ kind: 'answer' }) },
  {
    weight: 3,
    arbitrary: fc.integer({ min: 1, max: 400 }).map<Fate>((replyMs) => ({ kind: 'answer', replyMs })),
  },
  { weight: 1, arbitrary: fc.constant<Fate>({ kind: 'silence' }) },
  { weight: 1, arbitrary: fc.constant<Fate>({ kind: 'lose', error: lost }) },
  { weight: 1, arbitrary: fc.constant<Fate>({ kind: 'fail', error: readonly }) },
);

const step = fc.record({
  action: fc.constantFrom(
    'try',
    'wait',
    'abort',
    'release',
    'renew',
    'check',
    'steal',
    'delete',
    'reconnect',
    'stall',
    'none',
  ),
  key: fc.constantFrom('lock:a', 'lock:b'),
  watchdog: fc.boolean(),
  fate,
  passMs: fc.integer({ min: 0, max: 300 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function play(steps: readonly Step[]) {
  const bench = makeBench({ commandTimeoutMs: 250 });
  const { client, clock, server, redis } = bench;
  const leases: Lease[] = [];
  const calls: Promise<unknown>[] = [];
  let control = new AbortController();
  let acquires = 0;
  const take = (waitMs: number, { key, watchdog }: Step) => {
    acquires += 1;
    const options = { leaseMs: 300, waitMs, watchdog, maxHoldMs: 2000, signal: control.signal };
    calls.push(
      client.acquire(key, options).then(
        (lease) => leases.push(lease),
        () => {},
      ),
    );
  };
  const act = (current: Step): void => {
    const lease = leases.at(-1);
    switch (current.action) {
      case 'try':
        take(0, current);
        return;
      case 'wait':
        take(500, current);
        return;
      case 'abort':
        control.abort();
        control = new AbortController();
        return;
      case 'release':
        if (lease) calls.push(lease.release());
        return;
      case 'renew':
        if (lease) calls.push(lease.renew(current.passMs + 1));
        return;
      case 'check':
        if (lease) calls.push(lease.check());
        return;
      case 'steal':
        server.steal(current.key, 400);
        return;
      case 'delete':
        server.delete(current.key);
        return;
      case 'reconnect':
        redis.emit('close');
        return;
      case 'stall':
        clock.stall(current.passMs);
        return;
      case 'none':
        return;
      default:
        current.action satisfies never;
    }
  };
  for (const current of steps) {
    server.fates.push(current.fate);
    act(current);
    await clock.advance(current.passMs);
    for (const lease of leases) expectTruthful(lease, server.leftMs(String(lease.key)));
  }
  server.fates.length = 0;
  await clock.advance(5000);
  for (const lease of leases) calls.push(lease.release());
  await clock.advance(5000);
  await Promise.all(calls);
  return { ...bench, acquires, leases };
}

/** A lease that calls itself valid is never longer than what Redis keeps, unless somebody took the key away. */
function expectTruthful(lease: Lease, leftMs: number | undefined): void {
  if (!lease.isValid() || leftMs === undefined) return;
  expect(lease.remainingMs()).toBeGreaterThan(0);
  expect(lease.loss).toBeUndefined();
  expect(lease.signal.aborted).toBe(false);
}

/** The events of one hold, by its owner. */
function storiesOf(log: EventLog): string[][] {
  const stories = new Map<string, string[]>();
  for (const event of log.events) {
    if (!('owner' in event) || event.owner === undefined) continue;
    const story = stories.get(event.owner) ?? [];
    story.push('outcome' in event ? `${event.kind} ${event.outcome}` : event.kind);
    stories.set(event.owner, story);
  }
  return [...stories.values()];
}

test('one event for each acquire, one release for each grant, one loss at most, in this order, and nothing after', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const { log, acquires, leases, client, clock } = await play(steps);
      expect(log.events.filter(({ kind }) => kind === 'acquire')).toHaveLength(acquires);
      expect(log.events.filter(({ kind }) => kind === 'release')).toHaveLength(leases.length);
      for (const story of storiesOf(log)) {
        const [first, ...rest] = story;
        if (first !== 'acquire acquired') {
          expect(story).toEqual(['acquire unknown']);
          continue;
        }
        expect(rest.filter((line) => line === 'lost').length).toBeLessThanOrEqual(1);
        expect(rest.findIndex((line) => line.startsWith('release'))).toBe(rest.length - 1);
        const lostAt = rest.indexOf('lost');
        if (lostAt >= 0) expect(rest.slice(lostAt).filter((line) => line.startsWith('renew'))).toEqual([]);
      }
      expect(client.stats).toEqual({ held: 0, acquiring: 0, cleanUps: 0, cleanUpsDropped: 0 });
      expect(log.source?.holdCount()).toBe(0);
      expect(log.source?.shortestLeaseMs()).toBeUndefined();
      expect(clock.pendingTimers).toBe(0);
    }),
    { numRuns: 120 },
  );
});

test('no lock of this client outlives its holders: what was granted is given back or has ended', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
      const { server } = await play(steps);
      expect(server.leftMs('lock:a')).toBeUndefined();
      expect(server.leftMs('lock:b')).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});

test('a lost hold is told as lost on its release, and only a lost one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      const { log } = await play(steps);
      for (const event of log.events) {
        if (event.kind !== 'release') continue;
        const told = log.events.some(
          ({ kind, ...other }) => kind === 'lost' && 'owner' in other && other.owner === event.owner,
        );
        expect(event.lost).toBe(told);
        expect(event.holdMs).toBeGreaterThanOrEqual(0);
        expect(event.peakUse).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 60 },
  );
});
