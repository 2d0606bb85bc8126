import { expect, it } from 'vitest';
import type { Party } from '../../../../exporter/ledger/finding.js';
import { listOthers, MAX_OTHERS } from '../../../../exporter/ledger/overlap-window.js';

const party = (fence: number, owner: string | undefined, grantUs: number | undefined): Party => {
  return { owner, fence, grantUs, serverId: 's1', producer: undefined, app: undefined, instance: undefined };
};

it('others stand in the order of their grants, those without a time last', () => {
  const { others } = listOthers([party(3, 'c', undefined), party(2, 'b', 20), party(1, 'a', 10)]);
  expect(others.map(({ fence }) => fence)).toEqual([1, 2, 3]);
});

it('one that an answer named by its fence is the one that reports with that fence', () => {
  for (const parties of [
    [party(1, undefined, 10), party(1, 'a', 10)],
    [party(1, 'a', 10), party(1, undefined, 10), party(1, 'a', 10)],
  ])
    expect(listOthers(parties)).toEqual({ others: [party(1, 'a', 10)], moreOthers: 0 });
});

it('two holders with one fence are two', () => {
  expect(listOthers([party(1, 'a', 10), party(1, 'b', 20)]).others).toHaveLength(2);
});

it('those beyond the bound are counted, beside what was counted before', () => {
  const many = Array.from({ length: MAX_OTHERS + 3 }, (_, n) => party(n, String(n), n));
  const { others, moreOthers } = listOthers(many, 2);
  expect([others.length, others[0]?.fence, moreOthers]).toEqual([MAX_OTHERS, 0, 5]);
});
