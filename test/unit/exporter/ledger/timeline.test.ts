import { describe, expect, it } from 'vitest';
import type { BatchFacts } from '../../../../exporter/ledger/ports.js';
import { Timelines } from '../../../../exporter/ledger/timeline.js';
import { acquired, HOLD, lost, release } from './events.js';

const BATCH: BatchFacts = {
  store: 'orders',
  producer: 'producer-a',
  seq: 1,
  app: 'shop',
  instance: 'shop-1',
  startedAtMs: 1_796_000_000_000,
  serverId: 's1',
  receivedMonoMs: 0,
  closing: false,
};

describe('the timeline of a lock', () => {
  it('tells what happened with fences and Redis’s time, and by whom', () => {
    const timelines = new Timelines();
    timelines.note(acquired({ serverUs: 5, keyBase64: 'c2VjcmV0' }), BATCH);
    timelines.note(lost({ by: 'deadline' }), BATCH);
    timelines.note(release({ latestFence: 101, settledUs: 9 }), BATCH);
    expect(timelines.read(HOLD.lock)).toMatchObject([
      {
        kind: 'acquire',
        outcome: 'acquired',
        serverUs: 5,
        serverId: 's1',
        fence: 100,
        app: 'shop',
        instance: 'shop-1',
      },
      { kind: 'lost', outcome: 'deadline', spanMs: 3000 },
      { kind: 'release', outcome: 'expired', latestFence: 101, settledUs: 9, spanMs: 4000 },
    ]);
    expect(JSON.stringify(timelines.read(HOLD.lock))).not.toContain('c2VjcmV0');
  });

  it('is bounded per lock: the oldest entries go', () => {
    const timelines = new Timelines({ perLock: 3, total: 100 });
    for (let fence = 1; fence <= 7; fence += 1) timelines.note(acquired({ fence }), BATCH);
    expect(timelines.read(HOLD.lock).map(({ fence }) => fence)).toEqual([5, 6, 7]);
    expect(timelines.evicted).toBe(0);
  });

  it('is bounded in total: the lock that was quiet for the longest time goes, counted', () => {
    const timelines = new Timelines({ perLock: 10, total: 8 });
    const note = (n: number) => timelines.note(acquired({ lock: n.toString(16).padStart(16, '0') }), BATCH);
    for (const n of [1, 2, 3, 4, 1, 1, 5, 6, 7]) note(n);
    const known = [1, 2, 3, 7].map((n) => timelines.read(n.toString(16).padStart(16, '0')).length);
    expect(known).toEqual([3, 0, 1, 1]);
    expect([timelines.size, timelines.evicted]).toEqual([8, 1]);
  });

  it('an overlap stands at the first other grant, also when that is heard of only later, and so does its end', () => {
    const timelines = new Timelines();
    const party = { producer: 'producer-a', app: 'shop', instance: 'shop-1', serverId: 's1' };
    const { lock, owner } = HOLD;
    const about = { store: 'orders', resource: 'stock', lock, cause: 'slow_work', serverId: 's1' } as const;
    const window = (fence: number, grantUs: number) => {
      const other = { ...party, owner: 'bbbbbbbbbbbbbbbb', fence, grantUs };
      return { ...about, fromUs: grantUs, untilUs: 90, other, others: [other], moreOthers: 0 };
    };
    const holder = { ...party, owner, fence: 100, grantUs: 5 };
    timelines.noteFinding({ kind: 'overlap', ...window(103, 80), holder, provenBy: 'release' }, 1);
    timelines.noteFinding({ kind: 'overlap_other', ...window(101, 40), owner }, 2);
    expect(timelines.read(lock)).toMatchObject([
      { kind: 'overlap', serverUs: 40, latestFence: 101, serverId: 's1' },
    ]);
    timelines.noteFinding(
      { kind: 'overlap_end', ...window(102, 30), owner, lengthMs: 0.06, approximate: false },
      3,
    );
    expect(timelines.read(lock)).toMatchObject([
      { kind: 'overlap', serverUs: 30, latestFence: 102 },
      { kind: 'overlap_end', serverId: 's1', settledUs: 90, spanMs: 0.06 },
    ]);
  });
});
