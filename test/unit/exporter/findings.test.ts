import { expect, it } from 'vitest';
import { RecentFindings } from '../../../exporter/findings.js';
import type {
  Abandoned,
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
