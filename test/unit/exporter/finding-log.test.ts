import { expect, it } from 'vitest';
import { createLog } from '../../../exporter/cli/log.js';
import { FindingLog } from '../../../exporter/finding-log.js';
import type { Abandoned, Loss } from '../../../exporter/ledger/finding.js';
import { FakeClock } from '../../support/clocks.js';

function abandoned(takenOver: boolean): Abandoned {
  const holder = { owner: 'aaaaaaaaaaaaaaaa', fence: 7, grantUs: 1, serverId: 's', producer: 'p' };
  const lock = { store: 'orders', resource: 'stock', lock: '0123456789abcdef' } as const;
  return { kind: 'abandoned', ...lock, holder: { ...holder, app: 'shop', instance: 'i' }, takenOver };
}

function logged() {
  const lines: string[] = [];
  const log = new FindingLog(createLog('debug', (line) => lines.push(line), new FakeClock()));
  return { log, told: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

it('of the holders that fell silent only those are told that were replaced: most others have died', () => {
  const { log, told } = logged();
  log.write(abandoned(false), 0);
  expect(told()).toEqual([]);
  log.write(abandoned(true), 1);
  expect(told()).toMatchObject([
    {
      level: 'warn',
      msg: 'taken over: a silent holder was replaced',
      lock: '0123456789abcdef',
      holderApp: 'shop',
    },
  ]);
});

it('a flood of findings costs twenty lines a minute, and one that says how many were left out', () => {
  const { log, told } = logged();
  for (let at = 0; at < 100; at += 1) log.write(abandoned(true), at);
  expect(told()).toHaveLength(20);
  log.write(abandoned(true), 60_100);
  expect(told().at(-2)).toMatchObject({ left: 80 });
});

const loss: Loss = {
  ...{ kind: 'lost', store: 'orders', resource: 'stock', lock: '0123456789abcdef' },
  holder: abandoned(false).holder,
  loss: { by: 'deadline', sinceGrantMs: 510, leaseMs: 500, loopDelayMs: 12 },
  cause: 'slow_work',
};

it('a loss is one line of level info that names its lock, its holder and what was measured', () => {
  const { log, told } = logged();
  log.write(loss, 0);
  expect(told()).toMatchObject([
    {
      level: 'info',
      msg: 'lost: a lease was over or gone while the work went on',
      lock: '0123456789abcdef',
      holder: 'aaaaaaaaaaaaaaaa',
      holderInstance: 'i',
      by: 'deadline',
      sinceGrantMs: 510,
      leaseMs: 500,
      loopDelayMs: 12,
      cause: 'slow_work',
    },
  ]);
});

it('a flood of losses leaves room for what is worse', () => {
  const { log, told } = logged();
  for (let at = 0; at < 100; at += 1) log.write(loss, at);
  log.write(abandoned(true), 100);
  expect(told().map(({ level }) => level)).toEqual([...Array(20).fill('info'), 'warn']);
});
