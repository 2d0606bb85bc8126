import { describe, expect, it, vi } from 'vitest';
import type { Hold as ReportedHold } from '../../../../contract/batch.js';
import type { LockEvent, LostEvent } from '../../../../contract/event.js';
import { Hold } from '../../../../exporter/ledger/hold.js';
import { HOLDS_PER_LOCK } from '../../../../exporter/ledger/hold-table.js';
import type { HeldKeyLook } from '../../../../exporter/ledger/ports.js';
import { kindsOf, LedgerBench } from './batches.js';
import { acquired, check, HOLD, lost, release, renewal } from './events.js';

const B = { owner: 'bbbbbbbbbbbbbbbb', fence: 101 } as const;
const RELEASED = { outcome: 'released', lost: false } as const;

/** The findings of all events, told by one client to a fresh ledger. */
function findAll(events: readonly LockEvent[]) {
  return new LedgerBench().send('producer-a', { events });
}

const gone: HeldKeyLook = {
  lock: HOLD.lock,
  resource: 'stock',
  serverUs: 2_000_000,
  serverId: 's1',
  state: 'gone',
};
const there = (owner: string | null, serverUs = 2_000_000, leftMs = 1000): HeldKeyLook => ({
  ...gone,
  serverUs,
  state: 'there',
  owner,
  leftMs,
});
const reported = (change: Partial<ReportedHold> = {}): ReportedHold => {
  const { lock, owner, resource, fence } = HOLD;
  return {
    lock,
    owner,
    resource,
    fence,
    grantUs: 1_000_000,
    leaseMs: 3000,
    leftMs: 2000,
    renewals: 0,
    ...change,
  };
};
const grant = (serverUs = 1_000_000, change = {}) => acquired({ serverUs, ...change });

describe('an overlap is proven by a not-owned answer with a later fence', () => {
  it.each([
    ['a renewal that found the key gone', renewal({ latestFence: 101 }), 'renew'],
    ['a check that found the key another’s', check({ latestFence: 101 }), 'check'],
    ['a loss', lost({ latestFence: 101 }), 'lost'],
    ['a loss at maxHoldMs', lost({ by: 'max_hold', latestFence: 101 }), 'lost'],
    ['a release without times', release({ latestFence: 101 }), 'release'],
  ])('%s', (_, event, provenBy) => {
    expect(findAll([event])).toEqual([expect.objectContaining({ kind: 'overlap', provenBy })]);
  });

  it('the finding names both sides, the suspect window and its server', () => {
    const bench = new LedgerBench();
    bench.send('producer-b', { events: [acquired({ ...B, serverUs: 5_000 })] });
    const late = release({ latestFence: 101, latestGrantUs: 5_000, settledUs: 9_000 });
    expect(bench.send('producer-a', { events: [late] })[0]).toEqual({
      kind: 'overlap',
      store: 'orders',
      resource: 'stock',
      lock: HOLD.lock,
      holder: expect.objectContaining({ owner: HOLD.owner, fence: 100, producer: 'producer-a', app: 'shop' }),
      other: expect.objectContaining({
        owner: B.owner,
        fence: 101,
        grantUs: 5_000,
        instance: 'producer-b-host',
      }),
      serverId: 's1',
      fromUs: 5_000,
      untilUs: 9_000,
      others: [expect.objectContaining({ owner: B.owner, fence: 101 })],
      moreOthers: 0,
      provenBy: 'release',
      cause: 'slow_work',
    });
  });
});

describe('nothing is proven by', () => {
  it.each([
    ['the same fence: lost, but nobody entered', renewal({ latestFence: 100 })],
    ['an earlier fence: a server whose counter was lost', renewal({ latestFence: 99 })],
    ['an answer without the latest fence', renewal()],
    ['a renewal that was confirmed', renewal({ outcome: 'renewed', latestFence: 101 })],
    ['an error', renewal({ outcome: 'error', reason: 'readonly', latestFence: 101 })],
    ['a check that found the lock held', check({ outcome: 'held', latestFence: 101 })],
    ['an unknown release', release({ outcome: 'unknown', reason: 'connection', latestFence: 101 })],
    ['a loss found by the release, whose work had settled', lost({ by: 'release', latestFence: 101 })],
    ['a loss found by the local deadline', lost({ by: 'deadline' })],
    [
      'a release after which the lock was granted',
      release({ latestFence: 101, latestGrantUs: 5_000, settledUs: 5_000 }),
    ],
    ['a release with the time of the grant alone', release({ latestFence: 101, latestGrantUs: 9_000 })],
    ['a release with the time of the settling alone', release({ latestFence: 101, settledUs: 5_000 })],
  ])('%s', (_, event) => {
    expect(findAll([event])).toEqual([]);
  });
});

describe('an overlap is proven by two reports', () => {
  const first = [grant(1_000), release({ ...RELEASED, settledUs: 9_000, fence: undefined })];
  const second = (grantUs: number, change = {}) => acquired({ ...B, serverUs: grantUs, ...change });

  it.each([
    ['granted one µs before the work settled', 8_999, 1],
    ['granted when the work settled', 9_000, 0],
    ['granted after', 9_001, 0],
    ['granted before the first', 500, 0],
  ])('the other was %s', (_, grantUs, count) => {
    const fence = grantUs < 1_000 ? 99 : 101;
    const inOrder = [...first, second(grantUs, { fence })];
    for (const events of [
      inOrder,
      inOrder.toReversed(),
      [...first.toReversed(), second(grantUs, { fence })],
    ]) {
      const found = findAll(events).filter(({ kind }) => kind === 'overlap');
      expect(found).toHaveLength(count);
      if (count > 0)
        expect(found[0]).toMatchObject({ provenBy: 'reports', holder: { owner: HOLD.owner }, fromUs: 8_999 });
    }
  });

  it.each([
    ['of another server', { serverId: 's2' }],
    ['whose fence says that the clock was set', { fence: 99 }],
  ])('nothing by a grant %s', (_, change) => {
    expect(kindsOf(findAll([...first, second(5_000, change)])).filter((kind) => kind === 'overlap')).toEqual(
      [],
    );
  });

  it('nothing where the server is not known, whose clock would be compared with any other', () => {
    const bench = new LedgerBench();
    expect(bench.send('producer-a', { events: [...first, second(5_000)], serverId: undefined })).toEqual([]);
  });

  it('across a failover by the fences, when the new server was first heard of after the first grant', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(1_000)] });
    bench.wait(1000);
    bench.send('producer-b', { events: [second(50_000)], serverId: 's2' });
    const found = bench.send('producer-a', { events: [release({ settledUs: 60_000 })], serverId: 's2' });
    expect(found[0]).toMatchObject({
      kind: 'overlap',
      cause: 'server_changed',
      fromUs: 50_000,
      untilUs: 60_000,
    });
  });
});

describe('the length of an overlap', () => {
  const overlap = () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(1_000)] });
    bench.send('producer-b', { events: [acquired({ ...B, serverUs: 5_000 })] });
    return bench;
  };
  const endOfA = release({ latestFence: 101, latestGrantUs: 5_000, settledUs: 9_000 });

  it('is that of the window, told once the others’ reports had time to come', () => {
    const bench = overlap();
    expect(kindsOf(bench.send('producer-a', { events: [endOfA] }))).toEqual(['overlap']);
    expect(bench.wait(1000)).toEqual([]);
    expect(bench.wait(1000)).toMatchObject([
      { kind: 'overlap_end', fromUs: 5_000, untilUs: 9_000, lengthMs: 4, approximate: false },
    ]);
    expect(kindsOf(bench.wait(60_000))).toEqual(['abandoned']);
  });

  it('is the same when the other settled first, in whatever order the two reports come: the late work went on', () => {
    const endOfB = release({ ...B, ...RELEASED, settledUs: 7_000 });
    for (const events of [
      [endOfA, endOfB],
      [endOfB, endOfA],
    ]) {
      const bench = overlap();
      const found = [...bench.send('producer-a', { events }), ...bench.wait(3000)];
      expect(found.at(-1)).toMatchObject({ kind: 'overlap_end', lengthMs: 4, approximate: false });
      expect(kindsOf(found)).toEqual(['overlap', 'overlap_end']);
    }
  });

  it('is approximate when the other never reports here', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(1_000), endOfA] });
    expect(bench.wait(29_000)).toEqual([]);
    expect(bench.wait(2_000)).toMatchObject([{ kind: 'overlap_end', lengthMs: 4, approximate: true }]);
  });

  it('is approximate where no server is named: what one answer told of the latest other and of the end', () => {
    const bench = new LedgerBench();
    const renewed = renewal({ latestFence: 101, latestGrantUs: 50_000_000, serverUs: 50_500_000 });
    bench.send('producer-a', { events: [grant(1_000), renewed], serverId: undefined });
    const last = release({ latestFence: 103, latestGrantUs: 7_000, settledUs: 9_000 });
    const found = bench.send('producer-a', { events: [last], serverId: undefined });
    expect(found.at(-1)).toMatchObject({ kind: 'overlap_other', fromUs: 7_000, untilUs: 9_000 });
    expect(bench.wait(29_000)).toEqual([]);
    expect(bench.wait(2_000)).toMatchObject([
      {
        kind: 'overlap_end',
        fromUs: 7_000,
        untilUs: 9_000,
        lengthMs: 2,
        approximate: true,
        serverId: undefined,
      },
    ]);
  });

  it('is not told where no server is named and no answer told both ends', () => {
    const bench = new LedgerBench();
    const renewed = renewal({ latestFence: 101, latestGrantUs: 5_000 });
    const last = release({ latestFence: 101 });
    bench.send('producer-a', { events: [grant(1_000), renewed, last], serverId: undefined });
    expect(bench.wait(4_000_000)).toEqual([]);
  });

  it('is not told when no end is known', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(1_000), renewal({ latestFence: 101 })] });
    expect(bench.wait(4_000_000).filter(({ kind }) => kind === 'overlap_end')).toEqual([]);
  });
});

describe('a reported loss', () => {
  const lossOf = (event: LostEvent, bench = new LedgerBench()) => {
    bench.send('producer-a', { events: [event] });
    return bench.ledger.describeLoss(event, bench.batch('producer-a'));
  };

  it('is told with its holder, also when nothing was heard of it before', () => {
    expect(lossOf(lost({ by: 'deadline', sinceGrantMs: 3001, loopDelayMs: 7 }))).toEqual({
      kind: 'lost',
      store: 'orders',
      resource: 'stock',
      lock: HOLD.lock,
      holder: expect.objectContaining({ owner: HOLD.owner, fence: 100, app: 'shop' }),
      loss: { by: 'deadline', sinceGrantMs: 3001, leaseMs: 3000, loopDelayMs: 7 },
      cause: 'slow_work',
    });
  });

  it.each([
    ['the event loop stood still', { by: 'deadline', loopDelayMs: 2000 }, 'pause'],
    ['the key was gone before its lease was over', { by: 'renew', serverUs: 1_500_000 }, 'deleted'],
    ['another server answered', { by: 'check', serverUs: 9_000_000, serverId: 's2' }, 'server_changed'],
  ] as const)('has a cause: %s', (_, change, cause) => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    expect(lossOf(lost(change), bench)).toMatchObject({ cause });
  });
});

describe('the suspect window of an overlap with several others', () => {
  const other = (n: number) => ({ owner: n.toString(16).padStart(16, 'b'), fence: 100 + n });
  const hold = (n: number, grantUs: number) => [
    acquired({ ...other(n), serverUs: grantUs }),
    release({ ...other(n), ...RELEASED, settledUs: grantUs + 500 }),
  ];
  const endOfA = (latest: number) =>
    release({ latestFence: 100 + latest, latestGrantUs: latest * 1_000_000, settledUs: 90_000_000 });
  const overlapped = (count: number, events: readonly LockEvent[] = [grant(1_000)]) => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events });
    for (let n = 2; n < count + 2; n += 1) bench.send('producer-b', { events: hold(n, n * 1_000_000) });
    return bench;
  };
  const fences = (others: readonly { readonly fence: number | undefined }[]) =>
    others.map(({ fence }) => fence);

  it('begins with the first of them though the answer names the last, and lists each', () => {
    const bench = overlapped(3);
    const [found] = bench.send('producer-a', { events: [endOfA(4)] });
    expect(found).toMatchObject({
      kind: 'overlap',
      other: other(2),
      fromUs: 2_000_000,
      untilUs: 90_000_000,
      others: [other(2), other(3), other(4)],
      moreOthers: 0,
    });
    expect(bench.wait(3000)).toMatchObject([
      { kind: 'overlap_end', fromUs: 2_000_000, lengthMs: 88_000, other: other(2), approximate: false },
    ]);
  });

  it('is as early when a hot lock has forgotten the first of them meanwhile, and counts those it does not list', () => {
    const bench = overlapped(30);
    const [found] = bench.send('producer-a', { events: [endOfA(31)] });
    expect(found).toMatchObject({ kind: 'overlap', other: other(2), fromUs: 2_000_000, moreOthers: 22 });
    expect(found?.kind === 'overlap' && fences(found.others)).toEqual([
      102, 103, 104, 105, 106, 107, 108, 109,
    ]);
  });

  it('does not reach back to holds before the late one, or to those granted after its end', () => {
    const bench = overlapped(3, [...hold(1, 500), grant(1_000)]);
    const end = release({ latestFence: 103, latestGrantUs: 3_000_000, settledUs: 3_500_000 });
    const [found] = bench.send('producer-a', { events: [end] });
    expect(found?.kind === 'overlap' && fences(found.others)).toEqual([102, 103]);
  });

  it('widens when the first other is heard of only later, before and after its length was told', () => {
    for (const waitMs of [1000, 5000]) {
      const bench = overlapped(0);
      bench.send('producer-b', { events: hold(4, 4_000_000) });
      expect(bench.send('producer-a', { events: [endOfA(4)] })).toMatchObject([{ fromUs: 4_000_000 }]);
      bench.wait(waitMs);
      const late = bench.send('producer-c', { events: hold(2, 2_000_000) });
      expect(late[0]).toMatchObject({
        kind: 'overlap_other',
        owner: HOLD.owner,
        fromUs: 2_000_000,
        other: other(2),
      });
    }
  });

  it('ends as soon as the work is known to have settled', () => {
    const bench = overlapped(0);
    bench.send('producer-b', { events: hold(2, 2_000_000) });
    const renewed = renewal({ latestFence: 102, latestGrantUs: 2_000_000, serverUs: 3_000_000 });
    expect(bench.send('producer-a', { events: [renewed] })).toMatchObject([{ untilUs: undefined }]);
    expect(bench.send('producer-a', { events: [endOfA(2)] })).toMatchObject([
      { kind: 'overlap_other', fromUs: 2_000_000, untilUs: 90_000_000, others: [other(2)] },
    ]);
    expect(bench.wait(3000)).toMatchObject([{ kind: 'overlap_end', lengthMs: 88_000 }]);
  });

  it('names one whom an answer knew by the fence as soon as he reports, also after a hold with the same fence', () => {
    const bench = new LedgerBench();
    bench.send('producer-b', { events: [grant(500, { ...other(2), owner: 'cccccccccccccccc' })] });
    const late = renewal({ latestFence: 102, latestGrantUs: 5_000, serverUs: 7_000 });
    const found = bench.send('producer-a', { events: [grant(1_000), late] });
    const stranger = { owner: undefined, fence: 102, grantUs: 5_000 };
    expect(found).toContainEqual(
      expect.objectContaining({ kind: 'overlap', other: expect.objectContaining(stranger) }),
    );
    const later = bench.send('producer-b', { events: [acquired({ ...other(2), serverUs: 5_000 })] });
    expect(later.find(({ kind }) => kind === 'overlap_other')).toMatchObject({
      other: other(2),
      fromUs: 5_000,
    });
  });

  it('is called approximate where the grant of the late one is not known: an earlier other may be missing', () => {
    const bench = overlapped(3, []);
    const end = { latestFence: 104, latestGrantUs: 4_000_000, settledUs: 90_000_000 };
    bench.send('producer-a', { events: [release(end)] });
    expect(bench.wait(60_000).find(({ kind }) => kind === 'overlap_end')).toMatchObject({
      approximate: true,
    });
  });

  it('names one whom a later answer of Redis tells of, and its own report in the place of that', () => {
    const bench = overlapped(0);
    const [told] = bench.send('producer-a', {
      events: [renewal({ latestFence: 102, latestGrantUs: 5_000 })],
    });
    expect(told).toMatchObject({ other: { owner: undefined, fence: 102 }, fromUs: 5_000 });
    expect(bench.send('producer-a', { events: [endOfA(4)] })).toMatchObject([
      { kind: 'overlap_other', fromUs: 5_000, others: [{ fence: 102 }, { fence: 104 }] },
    ]);
    bench.send('producer-b', { events: hold(4, 4_000_000) });
    expect(bench.wait(40_000)).toMatchObject([
      { kind: 'overlap_end', others: [{ owner: undefined, fence: 102 }, other(4)], approximate: true },
    ]);
  });
});

describe('an overlap is found once per hold', () => {
  it('renew, lost, check and release of one hold', () => {
    const later = { latestFence: 101 };
    const found = findAll([acquired(), renewal(later), lost(later), check(later), release(later)]);
    expect(found).toMatchObject([{ provenBy: 'renew' }]);
  });

  it('two holds of one lock are two', () => {
    const other = { owner: B.owner, fence: 101, latestFence: 102 };
    expect(findAll([renewal({ latestFence: 101 }), renewal(other)])).toHaveLength(2);
  });

  it('also when a loss arrives after the release, in a batch that was late', () => {
    expect(findAll([release({ latestFence: 101 }), lost({ latestFence: 101 })])).toHaveLength(1);
  });

  it('an emitter that tells the fence only with the grant has it remembered', () => {
    const unfenced = renewal({ latestFence: 101, fence: undefined });
    expect(findAll([acquired(), unfenced])).toHaveLength(1);
    expect(findAll([unfenced])).toEqual([]);
  });
});

describe('the cause', () => {
  const causeOf = (change: object, lease = {}) =>
    findAll([
      grant(1_000, lease),
      release({ latestFence: 101, latestGrantUs: 5_000, settledUs: 9_000_000, ...change }),
    ])[0];

  it.each([
    [
      'a pause, when the event loop stood still for much of the lease',
      { loopDelayMs: 2000, latestGrantUs: 4_000_000 },
      'pause',
    ],
    ['slow work, when it ran', { loopDelayMs: 20, latestGrantUs: 4_000_000 }, 'slow_work'],
    [
      'deleted, when the other was granted before the lease was over',
      { latestGrantUs: 1_500_000 },
      'deleted',
    ],
    ['another server', { serverId: 's2', latestGrantUs: 4_000_000 }, 'server_changed'],
  ])('%s', (_, change, cause) => {
    expect(causeOf(change)).toMatchObject({ kind: 'overlap', cause });
  });

  it.each([
    ['renewals that failed, when a watchdog was to renew', { loopDelayMs: 20 }, 'renewal_failed'],
    ['a pause all the same, when the event loop stood still', { loopDelayMs: 2000 }, 'pause'],
  ])('of a hold with a watchdog: %s', (_, change, cause) => {
    expect(causeOf({ latestGrantUs: 4_000_000, ...change }, { watchdog: true })).toMatchObject({ cause });
  });

  it('is known by a planned renewal, too, whose grant was reported to an earlier run', () => {
    const lossOf = (change: object) => {
      const bench = new LedgerBench();
      const loss = lost({ by: 'deadline' });
      bench.send('producer-a', { events: [renewal({ outcome: 'renewed', ...change }), loss] });
      return bench.ledger.describeLoss(loss, bench.batch('producer-a'))?.cause;
    };
    expect(lossOf({ lateMs: 0 })).toBe('renewal_failed');
    expect(lossOf({ lateMs: undefined })).toBe('slow_work');
  });

  it('is slow work when the watchdog had renewed for as long as it may', () => {
    const loss = lost({ by: 'max_hold', sinceGrantMs: 30_000 });
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(1_000, { watchdog: true }), loss] });
    expect(bench.ledger.describeLoss(loss, bench.batch('producer-a'))).toMatchObject({ cause: 'slow_work' });
  });

  it('is not that of the hold that was remembered in its place before', () => {
    const bench = new LedgerBench({ maxEnded: 0 });
    const first = { ...B, lock: 'fedcba9876543210' };
    bench.send('producer-a', {
      events: [acquired({ ...first, watchdog: true }), release({ ...first, ...RELEASED })],
    });
    const loss = lost({ by: 'deadline' });
    bench.send('producer-a', { events: [grant(), loss] });
    expect(bench.ledger.describeLoss(loss, bench.batch('producer-a'))).toMatchObject({ cause: 'slow_work' });
  });
});

describe('who holds', () => {
  it('a grant begins a hold, a release ends it', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    expect(bench.holders()).toEqual({ holders: 1, unsure: 0 });
    bench.send('producer-a', { events: [release(RELEASED)] });
    expect(bench.holders()).toEqual({ holders: 0, unsure: 0 });
  });

  it('a release that comes before its grant leaves nothing held', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [release(RELEASED), grant()] });
    expect(bench.holders().holders).toBe(0);
  });

  it('a lost hold is none', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(), lost({ by: 'deadline' })] });
    expect(bench.holders().holders).toBe(0);
  });

  it('a full set replaces what was known, in parts as a whole', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    bench.send('producer-a', { holds: [reported({ owner: B.owner })], more: true });
    expect(bench.holders().holders).toBe(2);
    bench.send('producer-a', { holds: [reported({ owner: 'cccccccccccccccc' })] });
    expect(bench.holders().holders).toBe(2);
  });

  it('a grant that came while a set was on its way is not in it, and stays', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { holds: [reported({ owner: B.owner })], more: true });
    bench.send('producer-a', { events: [grant()], holds: [] });
    expect(bench.holders().holders).toBe(2);
  });

  it('a client first heard of late is unsure until its full set', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { gap: 7, events: [grant()] });
    expect(bench.holders()).toEqual({ holders: 1, unsure: 1 });
    bench.send('producer-a', { holds: [reported()] });
    expect(bench.holders()).toEqual({ holders: 1, unsure: 0 });
  });

  it('a gap makes unsure, until the next full set', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    bench.send('producer-a', { gap: 1 });
    expect(bench.holders().unsure).toBe(1);
    bench.send('producer-a', { holds: [] });
    expect(bench.holders()).toEqual({ holders: 0, unsure: 0 });
  });

  it('a goodbye ends all, and is no abandonment', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()], closing: true });
    expect(bench.holders().holders).toBe(0);
    expect(bench.wait(60_000)).toEqual([]);
  });
});

describe('a ghost holder', () => {
  const suspect = (look: HeldKeyLook = gone) => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    bench.wait(1000);
    bench.look(look);
    return bench;
  };
  const hear = (bench: LedgerBench, times: number, sent = {}) =>
    Array.from({ length: times }, () => {
      bench.wait(1000);
      return bench.send('producer-a', sent);
    }).flat();

  it('is told when two batches that were surely built later still report it', () => {
    const bench = suspect();
    expect(hear(bench, 3)).toEqual([]);
    expect(hear(bench, 1)).toMatchObject([
      { kind: 'ghost_holder', found: undefined, seenUs: 2_000_000, serverId: 's1', cause: 'deleted' },
    ]);
    expect(bench.ledger.hasToldLoss(HOLD.owner)).toBe(true);
    expect(hear(bench, 9)).toEqual([]);
    expect(bench.holders().holders).toBe(0);
  });

  it('is told with the one who has the key', () => {
    expect(hear(suspect(there(B.owner)), 4)).toMatchObject([{ kind: 'ghost_holder', found: B.owner }]);
  });

  it.each([
    ['the key is its own', there(HOLD.owner)],
    ['the value could not be read', there(null)],
    ['the look came before the grant', { ...gone, serverUs: 999_999 }],
    ['the server that was looked at is not known', { ...gone, serverId: null }],
  ])('is none when %s', (_, look) => {
    expect(hear(suspect(look), 9)).toEqual([]);
  });

  it('is none when its client talks to another server than the one looked at', () => {
    expect(hear(suspect(), 9, { serverId: 's2' })).toEqual([]);
  });

  it('is none when the release was under way while the look was taken', () => {
    const bench = suspect();
    expect([
      ...hear(bench, 1),
      ...bench.send('producer-a', { events: [release(RELEASED)] }),
      ...hear(bench, 5),
    ]).toEqual([]);
  });

  it('is none when the client stood still with its release under way, and sends a batch before it reads the answer', () => {
    const bench = suspect();
    expect([
      ...hear(bench, 3),
      ...bench.send('producer-a', { events: [release({ ...RELEASED, outcome: 'expired' })] }),
      ...hear(bench, 5),
    ]).toEqual([]);
  });

  it('is doubted from the beginning when the key was its own in between', () => {
    const bench = suspect();
    expect(hear(bench, 3)).toEqual([]);
    bench.look(there(HOLD.owner));
    bench.look({ ...gone, serverUs: 5_000_000 });
    expect(hear(bench, 3)).toEqual([]);
    expect(kindsOf(hear(bench, 1))).toEqual(['ghost_holder']);
  });

  it('is doubted from the beginning when another server is looked at, as after a failover', () => {
    const bench = suspect();
    expect(hear(bench, 3)).toEqual([]);
    bench.look({ ...gone, serverId: 's2' });
    expect(hear(bench, 3, { serverId: 's2' })).toEqual([]);
    expect(kindsOf(hear(bench, 1, { serverId: 's2' }))).toEqual(['ghost_holder']);
  });

  it('is looked for in the batches of its own client only: a Redis that lost all its data makes every hold a suspect', () => {
    const bench = suspect();
    bench.send('producer-b');
    const row = vi.spyOn(Hold.prototype, 'producer', 'get');
    bench.send('producer-b');
    expect(row).not.toHaveBeenCalled();
    row.mockRestore();
    expect(kindsOf(hear(bench, 4))).toEqual(['ghost_holder']);
  });

  it('is none when the client told the loss first', () => {
    expect(hear(suspect(), 1, { events: [lost({ by: 'deadline' })] })).toEqual([]);
  });

  it.each([
    ['a renewal', renewal({ outcome: 'renewed', serverUs: 2_000_001 })],
    ['a check', check({ outcome: 'held', serverUs: 2_000_001 })],
  ])('is none when %s after the look found the lock its own', (_, event) => {
    const bench = suspect();
    bench.send('producer-a', { events: [event] });
    expect(hear(bench, 9)).toEqual([]);
  });

  it.each([
    ['events that are older than the look: its release may wait behind them', { serverUs: 1_900_000 }],
    ['events without a time', { serverUs: undefined }],
  ])('is none while batches are full of %s', (_, change) => {
    const other = { lock: 'fedcba9876543210', ...B };
    const bench = suspect();
    expect(hear(bench, 9, { events: [grant(0, { ...other, ...change })] })).toEqual([]);
  });

  it('is told by a batch with events when they are younger than the look', () => {
    const other = { lock: 'fedcba9876543210', ...B };
    const bench = suspect();
    const found = bench.send('producer-a', { events: [grant(3_600_000, other)] });
    expect(kindsOf(found)).toEqual(['ghost_holder']);
  });

  it('is none while a set comes in parts: events wait behind it', () => {
    const bench = suspect();
    const part = { holds: [reported()], more: true };
    expect(hear(bench, 9, part)).toEqual([]);
  });

  it('is none of a hold that is first heard of by a late batch: its release went to an earlier run', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { seq: 8, holds: [] });
    bench.send('producer-a', { seq: 5, events: [grant()] });
    expect(bench.holders().holders).toBe(0);
    bench.look(gone);
    const later = [9, 10, 11, 12].flatMap((seq) => {
      bench.wait(1000);
      return bench.send('producer-a', { seq });
    });
    expect(later).toEqual([]);
  });

  it('is none while the client is unsure', () => {
    const bench = suspect();
    bench.send('producer-a', { gap: 1 });
    expect(hear(bench, 9)).toEqual([]);
  });

  it('after a failover is told only if the hold was reported before the look began', () => {
    const other = { ...gone, serverId: 's2' };
    const bench = suspect(other);
    expect(hear(bench, 9, { serverId: 's2' })).toEqual([]);
    bench.look(other);
    expect(kindsOf(hear(bench, 4, { serverId: 's2' }))).toEqual(['ghost_holder']);
  });
});

describe('a silent client', () => {
  it('has abandoned its hold when it stays silent beyond the lease', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    expect(bench.wait(3000)).toEqual([]);
    expect(bench.wait(3000)).toMatchObject([
      { kind: 'abandoned', takenOver: false, holder: { owner: HOLD.owner } },
    ]);
    expect(bench.holders().holders).toBe(0);
    expect(bench.wait(60_000)).toEqual([]);
  });

  it('is taken over when another was granted the lock before it was missed', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    bench.wait(3000);
    bench.send('producer-b', { events: [acquired({ ...B, serverUs: 4_100_000, leaseMs: 60_000 })] });
    expect(bench.wait(3000)).toMatchObject([{ kind: 'abandoned', takenOver: true }]);
    expect(bench.wait(10_000)).toEqual([]);
  });

  it('is told once more, as taken over, when another is granted the lock only later', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    expect(bench.wait(60_000)).toMatchObject([{ kind: 'abandoned', takenOver: false }]);
    bench.send('producer-b', { events: [acquired({ ...B, serverUs: 61_000_000, leaseMs: 60_000 })] });
    expect(bench.wait(10_000)).toMatchObject([
      { kind: 'abandoned', takenOver: true, holder: { owner: HOLD.owner } },
    ]);
  });

  it('is taken over by a stranger whom a look on the master finds', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    expect(bench.wait(10_000)).toMatchObject([{ takenOver: false }]);
    bench.look({ ...gone, serverUs: 11_000_000 });
    expect(bench.wait(1000)).toEqual([]);
    const abandoned = new LedgerBench();
    abandoned.send('producer-a', { events: [grant()] });
    abandoned.wait(10_000);
    abandoned.look(there('cccccccccccccccc', 11_000_000));
    expect(abandoned.wait(5000)).toMatchObject([{ kind: 'abandoned', takenOver: true }]);
  });

  it.each([
    ['an acquire whose outcome is not known', { outcome: 'unknown', reason: 'command_timeout' }, 5_000_000],
    ['an earlier holder whose grant is reported late', {}, 500_000],
    ['a holder by another server, whose grant may be earlier', { serverId: 's2', fence: 102 }, 9_000_000],
  ])('is not taken over by %s', (_, change, serverUs) => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    const other = { ...acquired({ ...B, fence: 99, serverUs }), ...change } as LockEvent;
    bench.send('producer-b', { events: [other], closing: true });
    expect(bench.wait(20_000)).toMatchObject([{ kind: 'abandoned', takenOver: false }]);
  });

  it('is not called abandoned while it is unsure: a batch that was missed may have had its release', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    bench.send('producer-a', { gap: 1 });
    expect(bench.wait(60_000)).toEqual([]);
    expect(bench.holders().holders).toBe(0);
  });

  it('has not while it is heard of, or while this process itself stood still', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    for (let at = 0; at < 9; at += 1) {
      bench.wait(1000);
      bench.send('producer-a');
    }
    bench.nowMs += 60_000;
    expect(bench.ledger.tick(bench.nowMs)).toEqual([]);
    expect(bench.holders().holders).toBe(1);
  });

  it('that comes back with work that intersects makes an overlap', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(1_000)] });
    bench.send('producer-b', { events: [acquired({ ...B, serverUs: 5_000 })] });
    bench.wait(10_000);
    expect(
      kindsOf(
        bench.send('producer-a', {
          events: [release({ ...RELEASED, outcome: 'expired', settledUs: 9_000 })],
        }),
      ),
    ).toEqual(['overlap']);
  });

  it('that only comes back holds again', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    bench.wait(10_000);
    bench.send('producer-a');
    expect(bench.holders().holders).toBe(1);
  });
});

describe('a sampled key', () => {
  const key = (owner: string | null, seenUs = 2_000_000, expiresUs: number | null = 3_000_000) => ({
    owner,
    leftMs: 1000,
    seenUs,
    expiresUs,
  });
  const standing = (bench: LedgerBench, owner: string | null) =>
    bench.ledger.judgeKey(key(owner), bench.nowMs).standing;

  it('is foreign when its owner was never reported, held when it was, orphan when its client is silent', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    expect([standing(bench, B.owner), standing(bench, null), standing(bench, HOLD.owner)]).toEqual([
      'foreign',
      'foreign',
      'held',
    ]);
    bench.wait(2000);
    expect(standing(bench, HOLD.owner)).toBe('held');
    bench.wait(1000);
    expect(standing(bench, HOLD.owner)).toBe('orphan');
  });

  it('of an acquire with an unknown outcome is an orphan too', () => {
    const bench = new LedgerBench();
    const unknown = { ...acquired(), outcome: 'unknown', reason: 'connection' } as LockEvent;
    bench.send('producer-a', { events: [unknown] });
    expect(standing(bench, HOLD.owner)).toBe('held');
    bench.wait(3000);
    expect(standing(bench, HOLD.owner)).toBe('orphan');
    expect(bench.holders().holders).toBe(0);
  });

  it('whose expiry rises again and again after the release is renewed by a zombie; the first rise is not told', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', {
      events: [grant(), release({ ...RELEASED, outcome: 'error', reason: 'readonly', serverUs: 1_500_000 })],
    });
    const rises = [1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000].map((us) => {
      bench.wait(1000);
      return bench.ledger.judgeKey(key(HOLD.owner, us, us + 3_000_000), bench.nowMs).finding?.kind;
    });
    expect(rises).toEqual([undefined, undefined, undefined, 'zombie_renewal', 'zombie_renewal']);
  });

  it('whose owner has not given it up may be renewed', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()] });
    for (const us of [2, 3, 4, 5]) expect(bench.look(there(HOLD.owner, us * 1_000_000))).toEqual([]);
  });

  it('is watched after a goodbye without a release, too', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()], closing: true });
    const found = [2, 4, 6].flatMap((us) => {
      bench.wait(2000);
      return bench.look(there(HOLD.owner, us * 1_000_000));
    });
    expect(kindsOf(found)).toEqual(['zombie_renewal']);
  });

  it.each([
    [
      'whose server’s clock alone moves: it was set, or it is another server',
      [0, 0, 0, 0],
      [0, 60, 120, 180],
    ],
    ['whose looks alone are later and later: this process or Redis was slow', [0, 1, 3, 6], [0, 0, 0, 0]],
    ['whose expiry moves by less than a twentieth of the lease', [0, 0.1, 0.2, 0.3], [0, 0.1, 0.2, 0.3]],
  ])('is no zombie’s %s', (_, waitS, aheadS) => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant()], closing: true });
    const found = waitS.map((waitedS, at) => {
      const expiresUs = 9_000_000 + (aheadS[at] ?? 0) * 1_000_000;
      const seen = { ...key(HOLD.owner, 2_000_000, expiresUs), leftMs: 1000 };
      return bench.ledger.judgeKey(seen, bench.nowMs + waitedS * 1000).finding;
    });
    expect(found).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is watched from the expiry on that its client told: a look may be older than the last renewal', () => {
    const bench = new LedgerBench();
    const renewed = renewal({ outcome: 'renewed', serverUs: 3_000_000 });
    bench.send('producer-a', { events: [grant(), renewed], closing: true });
    const expiries = [4_000_000, 6_000_000, 7_000_000, 8_000_000];
    const found = expiries.map((us) => {
      bench.wait(2000);
      return bench.ledger.judgeKey(key(HOLD.owner, us - 2_000_000, us), bench.nowMs).finding?.kind;
    });
    expect(found).toEqual([undefined, undefined, undefined, 'zombie_renewal']);
  });
});

describe('more keys of owners that gave up than are watched', () => {
  const owners = Array.from({ length: 10_010 }, (_, n) => n.toString(16).padStart(16, '0'));
  const given = owners.map((owner) => grant(1_000_000, { lock: owner, owner, leaseMs: 60_000 }));
  const lookAt = (bench: LedgerBench, some: readonly string[], leftMs: number) => {
    const seenUs = bench.nowMs * 1000;
    return bench.look(...some.map((owner) => ({ ...there(owner, seenUs, leftMs), lock: owner })));
  };
  const last = owners.slice(-1);

  it('are looked through for room once, not for each of them', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: given, closing: true });
    lookAt(bench, owners.slice(0, 10_000), 60_000);
    const walks = vi.spyOn(Map.prototype, Symbol.iterator);
    lookAt(bench, owners.slice(10_000), 60_000);
    const count = walks.mock.calls.length;
    walks.mockRestore();
    expect(count).toBe(1);
  });

  it('are watched once the keys of others have gone', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: given, closing: true });
    lookAt(bench, owners, 100);
    bench.wait(90_000);
    const found = [1, 2, 3].flatMap(() => {
      bench.wait(5000);
      return lookAt(bench, last, 60_000);
    });
    expect(kindsOf(found)).toEqual(['zombie_renewal']);
  });
});

describe('a fence regression', () => {
  const pair = (earlier: object, later: object) => [
    grant(1_000, earlier),
    acquired({ ...B, serverUs: 2_000, ...later }),
  ];

  it.each([
    ['a lower fence', { fence: 100 }, { fence: 99 }, 1],
    ['the same fence', { fence: 100 }, { fence: 100 }, 1],
    ['a higher fence', { fence: 100 }, { fence: 101 }, 0],
    ['no fence', { fence: 100 }, { fence: undefined }, 0],
    ['another server', { fence: 100 }, { fence: 99, serverId: 's2' }, 0],
  ])('a later grant with %s: %o %o', (_, earlier, later, count) => {
    for (const events of [pair(earlier, later), pair(earlier, later).toReversed()]) {
      expect(kindsOf(findAll(events)).filter((kind) => kind === 'fence_regression')).toHaveLength(count);
    }
  });

  it('is none when the fences show that the clock was set back', () => {
    const before = grant(2_000_000, { fence: 2_000_000 });
    const after = acquired({ ...B, serverUs: 1_000_000, fence: 2_000_001 });
    expect(findAll([before, after])).toEqual([]);
  });
});

describe('memory is bounded', () => {
  const owners = Array.from({ length: 5 }, (_, n) => n.toString(16).padStart(16, '0'));
  const each = (make: (owner: string) => LockEvent[]) => owners.flatMap(make);
  const lockOf = (owner: string) => ({ lock: owner, owner, resource: 'stock' });

  it('the oldest holds are forgotten first, and counted', () => {
    const bench = new LedgerBench({ maxHolds: 3 });
    bench.send('producer-a', { events: each((owner) => [acquired(lockOf(owner))]) });
    expect(bench.ledger.size()).toMatchObject({ holds: 3, locks: 3, evicted: { holds: 2 } });
  });

  it('so are ended holds', () => {
    const bench = new LedgerBench({ maxEnded: 3 });
    bench.send('producer-a', {
      events: each((owner) => [acquired(lockOf(owner)), release({ ...lockOf(owner), ...RELEASED })]),
    });
    expect(bench.ledger.size()).toMatchObject({ holds: 0, ended: 3, evicted: { holds: 0, ended: 2 } });
  });

  it('and clients, with what they held', () => {
    const bench = new LedgerBench({ maxProducers: 2 });
    for (const owner of owners) bench.send(`producer-${owner}`, { events: [acquired(lockOf(owner))] });
    expect(bench.ledger.size()).toMatchObject({ producers: 2, holds: 2, evicted: { producers: 3 } });
  });

  it('a busy lock remembers its last holds', () => {
    const bench = new LedgerBench();
    for (let n = 0; n < 50; n += 1) {
      const owner = n.toString(16).padStart(16, '0');
      bench.send('producer-a', { events: [acquired({ owner }), release({ owner, ...RELEASED })] });
    }
    expect(bench.ledger.size()).toMatchObject({
      ended: HOLDS_PER_LOCK,
      locks: 1,
      evicted: { holds: 0, ended: 0 },
    });
  });

  it('what ended long ago is forgotten without being counted', () => {
    const bench = new LedgerBench();
    bench.send('producer-a', { events: [grant(), release(RELEASED)] });
    bench.wait(620_000);
    expect(bench.ledger.size()).toMatchObject({ ended: 0, locks: 0, evicted: { ended: 0 } });
  });
});
