import { expect, it } from 'vitest';
import { RecentFindings } from '../../../exporter/findings.js';
import type {
  Abandoned,
  Loss,
  Overlap,
  OverlapEnd,
  OverlapOther,
  Party,
} from '../../../exporter/ledger/finding.js';

const NOBODY = { fence: undefined, grantUs: undefined, serverId: undefined } as const;
const CLIENT = { producer: 'p', app: 'shop', instance: 'i' } as const;

function abandoned(owner: string, takenOver: boolean): Abandoned {
  const lock = { store: 'orders', resource: 'stock', lock: '0123456789abcdef' } as const;
  return { kind: 'abandoned', ...lock, holder: { owner, ...NOBODY, ...CLIENT }, takenOver };
}

it('an abandoned hold that is taken over only later stands on the list once, as taken over', () => {
  const findings = new RecentFindings();
  findings.add(abandoned('aaaaaaaaaaaaaaaa', false), 1);
  findings.add(abandoned('bbbbbbbbbbbbbbbb', false), 2);
  findings.add(abandoned('aaaaaaaaaaaaaaaa', true), 3);
  const shown = findings
    .list()
    .map(({ holder, takenOver, foundAtMs }) => [holder.owner, takenOver, foundAtMs]);
  expect(shown).toEqual([
    ['bbbbbbbbbbbbbbbb', false, 2],
    ['aaaaaaaaaaaaaaaa', true, 1],
  ]);
  expect(findings.total).toBe(2);
});

const LOCK = { store: 'orders', resource: 'stock', lock: '0123456789abcdef' } as const;
const A = 'aaaaaaaaaaaaaaaa';
const other = (fence: number, grantUs: number, owner?: string): Party => {
  return { owner, fence, grantUs, serverId: 's1', producer: undefined, app: undefined, instance: undefined };
};
const window = (fromUs: number, others: readonly Party[], moreOthers = 0) => {
  return { ...LOCK, serverId: 's1', fromUs, untilUs: 9_000, others, moreOthers, cause: 'slow_work' } as const;
};
const D = other(103, 8_000);
const B = other(101, 5_000, 'bbbbbbbbbbbbbbbb');
const overlap: Overlap = {
  kind: 'overlap',
  ...window(8_000, [D]),
  untilUs: undefined,
  holder: { owner: A, ...NOBODY, ...CLIENT },
  other: D,
  provenBy: 'release',
};
const end: OverlapEnd = {
  kind: 'overlap_end',
  ...window(8_000, []),
  owner: A,
  other: undefined,
  lengthMs: 1,
  approximate: true,
};
const more: OverlapOther = { kind: 'overlap_other', ...window(5_000, [B], 3), owner: A, other: B };

it('an overlap has no length until that is told, and then always that of its window', () => {
  const findings = new RecentFindings();
  const shown = () => findings.list()[0];
  findings.add(overlap, 1);
  expect(shown()).toMatchObject({ suspectFromUs: 8_000, suspectUntilUs: null, lengthMs: null });
  findings.add(end, 2);
  expect(shown()).toMatchObject({ suspectUntilUs: 9_000, lengthMs: 1, approximate: true });
  findings.add(more, 3);
  expect(shown()).toMatchObject({ suspectFromUs: 5_000, suspectUntilUs: 9_000, lengthMs: 4, foundAtMs: 1 });
  expect(findings.total).toBe(1);
});

it('an earlier other becomes the one that an overlap is with, and those named before stay', () => {
  const findings = new RecentFindings();
  findings.add(overlap, 1);
  findings.add(more, 2);
  expect(findings.list()[0]).toMatchObject({ other: B, others: [B, D], moreOthers: 3 });
});

it('times of another server do not move the window', () => {
  const findings = new RecentFindings();
  findings.add(overlap, 1);
  findings.add({ ...more, serverId: 's2' }, 2);
  expect(findings.list()[0]).toMatchObject({ suspectFromUs: 8_000, suspectUntilUs: null });
});

const loss = (owner = A, lock: string = LOCK.lock): Loss => ({
  kind: 'lost',
  ...LOCK,
  lock,
  holder: { owner, ...NOBODY, ...CLIENT, serverId: 's1' },
  loss: { by: 'deadline', sinceGrantMs: 510, leaseMs: 500, loopDelayMs: 12 },
  cause: 'slow_work',
});

it('where no server is named, the two times of one update are the window: another time may be another server’s', () => {
  const findings = new RecentFindings();
  const unnamed = { serverId: undefined, others: [] } as const;
  findings.add({ ...overlap, ...unnamed, fromUs: 50 }, 1);
  findings.add({ ...end, ...unnamed, fromUs: 7_000 }, 2);
  expect(findings.list()[0]).toMatchObject({ suspectFromUs: 7_000, suspectUntilUs: 9_000, lengthMs: 2 });
});

it('a loss stands on the list with what its client measured, once', () => {
  const findings = new RecentFindings();
  findings.add(loss(), 1);
  findings.add(loss(), 2);
  expect(findings.list()).toMatchObject([
    {
      kind: 'lost',
      foundAtMs: 1,
      lock: LOCK.lock,
      holder: { owner: A, app: 'shop' },
      other: null,
      loss: { by: 'deadline', sinceGrantMs: 510, leaseMs: 500, loopDelayMs: 12 },
      cause: 'slow_work',
      serverId: 's1',
      timeline: `/api/v1/timeline?lock=${LOCK.lock}`,
    },
  ]);
  expect(findings.total).toBe(1);
});

it('a loss whose work overlapped is one overlap with the facts of the loss, in whatever order they come', () => {
  for (const order of [
    [loss(), overlap],
    [overlap, loss()],
  ]) {
    const findings = new RecentFindings();
    findings.add(loss('bbbbbbbbbbbbbbbb'), 1);
    order.forEach((finding, at) => {
      findings.add(finding, at + 2);
    });
    expect(findings.list()).toMatchObject([
      { kind: 'overlap', holder: { owner: A }, loss: { by: 'deadline', sinceGrantMs: 510 } },
      { kind: 'lost', holder: { owner: 'bbbbbbbbbbbbbbbb' } },
    ]);
    expect(findings.total).toBe(2);
  }
});

it('a flood of losses drives out losses, not overlaps', () => {
  const findings = new RecentFindings(10);
  findings.add(overlap, 0);
  for (let n = 1; n <= 100; n += 1) findings.add(loss(n.toString(16).padStart(16, '0')), n);
  const kinds = findings.list().map(({ kind }) => kind);
  expect([kinds.length, kinds.at(-1), findings.list()[0]?.foundAtMs]).toEqual([10, 'overlap', 100]);
});
