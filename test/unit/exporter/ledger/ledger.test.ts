import { describe, expect, it } from 'vitest';
import type { LockEvent } from '../../../../contract/event.js';
import { createLedger } from '../../../../exporter/ledger/ledger.js';
import { acquired, check, HOLD, lost, release, renewal } from './events.js';

const CONTEXT = { store: 'orders', serverId: 's1' };

/** The findings of all events, told to a fresh ledger one after the other. */
function findAll(events: readonly LockEvent[], maxHolds = 10) {
  const ledger = createLedger({ maxHolds });
  return events.flatMap((event) => ledger.observe(event, CONTEXT));
}

describe('an overlap is proven by a not-owned answer with a later fence', () => {
  it.each([
    ['a renewal that found the key gone', renewal({ latestFence: 101 }), 'renew'],
    ['a check that found the key another’s', check({ latestFence: 101 }), 'check'],
    ['a loss', lost({ latestFence: 101 }), 'lost'],
    ['a loss at maxHoldMs', lost({ by: 'max_hold', latestFence: 101 }), 'lost'],
    ['a release without times', release({ latestFence: 101 }), 'release'],
  ])('%s', (_, event, provenBy) => {
    const found = findAll([event]);
    expect(found).toEqual([
      expect.objectContaining({ kind: 'overlap', fence: 100, latestFence: 101, provenBy }),
    ]);
  });

  it('the finding names store, lock, owner and the times of the server', () => {
    const event = release({ latestFence: 101, latestGrantUs: 5_000, settledUs: 9_000 });
    expect(findAll([event])).toEqual([
      {
        kind: 'overlap',
        store: 'orders',
        resource: HOLD.resource,
        lock: HOLD.lock,
        owner: HOLD.owner,
        fence: 100,
        latestFence: 101,
        latestGrantUs: 5_000,
        settledUs: 9_000,
        serverId: 's1',
        provenBy: 'release',
        atMs: HOLD.atMs,
      },
    ]);
  });

  it('the server named by the event wins over the batch’s', () => {
    expect(findAll([renewal({ latestFence: 101, serverId: 's2' })])[0]?.serverId).toBe('s2');
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
  ])('%s', (_, event) => {
    expect(findAll([event])).toEqual([]);
  });
});

describe('a release is judged by when the work settled', () => {
  it.each([
    [4_999, 1],
    [5_000, 0],
    [5_001, 0],
  ])('work settled at 5000, later grant at %i: %i overlap', (latestGrantUs, count) => {
    expect(findAll([release({ latestFence: 101, latestGrantUs, settledUs: 5_000 })])).toHaveLength(count);
  });

  it.each([{ latestGrantUs: 9_000 }, { settledUs: 5_000 }])('one time alone proves nothing: %o', (time) => {
    expect(findAll([release({ latestFence: 101, ...time })])).toEqual([]);
  });

  it('a grant after the work settled stays harmless though a loss was found by that release', () => {
    const late = { latestFence: 101, latestGrantUs: 9_000 };
    expect(findAll([lost({ ...late, by: 'release' }), release({ ...late, settledUs: 5_000 })])).toEqual([]);
  });
});

describe('an overlap is found once per hold', () => {
  it('renew, lost, check and release of one hold', () => {
    const later = { latestFence: 101 };
    const found = findAll([acquired(), renewal(later), lost(later), check(later), release(later)]);
    expect(found.map((finding) => finding.provenBy)).toEqual(['renew']);
  });

  it('two holds of one lock are two', () => {
    const other = { owner: 'bbbbbbbbbbbbbbbb', fence: 101, latestFence: 102 };
    expect(findAll([renewal({ latestFence: 101 }), renewal(other)])).toHaveLength(2);
  });

  it('also when a loss arrives after the release, in a batch that was late', () => {
    expect(findAll([release({ latestFence: 101 }), lost({ latestFence: 101 })])).toHaveLength(1);
  });
});

describe('an emitter that tells the fence only with the grant', () => {
  const unfenced = renewal({ latestFence: 101, fence: undefined });

  it('has it remembered', () => {
    expect(findAll([acquired(), unfenced])).toHaveLength(1);
  });

  it('proves nothing when the grant was not seen', () => {
    expect(findAll([unfenced])).toEqual([]);
    expect(findAll([acquired({ owner: 'bbbbbbbbbbbbbbbb' }), unfenced])).toEqual([]);
  });

  it('proves nothing after the hold’s release', () => {
    expect(findAll([acquired(), release({ outcome: 'released', lost: false }), unfenced])).toEqual([]);
  });
});

describe('memory is bounded', () => {
  const owners = Array.from({ length: 5 }, (_, n) => n.toString(16).padStart(16, '0'));

  it('the oldest holds are forgotten first, and counted', () => {
    const ledger = createLedger({ maxHolds: 3 });
    for (const owner of owners) ledger.observe(acquired({ owner }), CONTEXT);
    expect(ledger.size()).toEqual({ holds: 3, reported: 0, evicted: 2 });
  });

  it('the oldest reports are forgotten first, and counted', () => {
    const ledger = createLedger({ maxHolds: 3 });
    for (const owner of owners) ledger.observe(renewal({ owner, latestFence: 101 }), CONTEXT);
    expect(ledger.size()).toEqual({ holds: 0, reported: 3, evicted: 2 });
  });

  it('a released hold takes no room', () => {
    const ledger = createLedger({ maxHolds: 3 });
    for (const owner of owners) {
      ledger.observe(acquired({ owner }), CONTEXT);
      ledger.observe(release({ owner, outcome: 'released', lost: false }), CONTEXT);
    }
    expect(ledger.size()).toEqual({ holds: 0, reported: 0, evicted: 0 });
  });
});
