import { expect, it } from 'vitest';
import { RecentFindings } from '../../../exporter/findings.js';
import type { Abandoned } from '../../../exporter/ledger/finding.js';

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
