import { expect, it } from 'vitest';
import { Hold } from '../../../../exporter/ledger/hold.js';
import { HOLD_MARKS, type HoldMark } from '../../../../exporter/ledger/hold-facts.js';
import { HoldRows } from '../../../../exporter/ledger/hold-rows.js';
import { LockHistory } from '../../../../exporter/ledger/lock-history.js';
import { Producer } from '../../../../exporter/ledger/producers.js';
import { HOLD } from './events.js';

const producer = new Producer({
  store: 'orders',
  producer: 'producer-1',
  seq: 1,
  app: 'shop',
  instance: 'shop-1',
  startedAtMs: 0,
  serverId: undefined,
  receivedMonoMs: 0,
  closing: false,
});
const marks = Object.keys(HOLD_MARKS) as HoldMark[];

/** All that can be read of it, but for which row it is. */
function read(hold: Hold): Record<string, unknown> {
  const accessors = Object.getOwnPropertyDescriptors(Hold.prototype);
  const names = Object.entries(accessors).flatMap(([name, { get }]) => (get ? [name] : []));
  const values = names.map((name) => [name, Reflect.get(hold, name)]);
  return Object.fromEntries([...values, ...marks.map((mark) => [mark, hold.is(mark)])]);
}

/** Says all of a hold that can be said. */
function fill(hold: Hold, other: Hold): void {
  hold.begin({ ...HOLD, owner: 'bbbbbbbbbbbbbbbb' }, producer, 5, 1);
  const history = new LockHistory(other);
  Object.assign(hold, { history, next: other, previous: other, older: other, younger: other });
  hold.grant(10, 's1', 7);
  hold.work(20, 's1');
  Object.assign(hold, {
    leaseEndUs: 1,
    leaseEndMs: 2,
    releasedUs: 3,
    loopDelayMs: 4,
    leaseMs: 6,
  });
  Object.assign(hold, { state: 'lost' });
  for (const mark of marks) hold.mark(mark);
}

it('a hold in the row of a forgotten one is like one that never was another', () => {
  const rows = new HoldRows();
  const fresh = rows.take();
  fresh.begin(HOLD, producer, 30, 2);
  const used = rows.take();
  fill(used, fresh);
  const unsaid = Object.entries(read(used)).filter(([, value]) => value === undefined || value === false);
  expect(unsaid.map(([name]) => name)).toEqual(['suspicion', 'open']);
  used.place = 'forgotten';
  rows.giveBack(used);
  const again = rows.take();
  expect(again.row).toBe(used.row);
  again.begin(HOLD, producer, 30, 2);
  expect(read(again)).toEqual(read(fresh));
  expect(read(fresh)).toMatchObject({ lock: HOLD.lock, knownMs: 30, leaseEndMs: 0, fence: undefined });
});

it.each(['open', 'suspicion'] as const)(
  'a forgotten hold whose `%s` is still to be judged keeps its row',
  (what) => {
    const rows = new HoldRows();
    const hold = rows.take();
    hold.begin(HOLD, producer, 5, 1);
    const window = { serverId: 's1', fromUs: 1, untilUs: 2, others: [], moreOthers: 0 };
    if (what === 'open') hold.open = { window, toldMs: 1, endedMs: undefined };
    else hold.suspicion = { sinceMs: 1, seenUs: 1, serverId: 's1', found: undefined, isStillHeld: false };
    hold.place = 'forgotten';
    rows.giveBack(hold);
    expect(rows.take().row).not.toBe(hold.row);
    hold[what] = undefined;
    rows.giveBack(hold);
    expect(rows.take().row).toBe(hold.row);
  },
);

it('rows beyond a block are rows of their own', () => {
  const rows = new HoldRows();
  const holds = Array.from({ length: 10_000 }, (_, index) => {
    const hold = rows.take();
    const owner = index.toString(16).padStart(16, 'f');
    hold.begin({ ...HOLD, owner }, producer, index, index);
    return { hold, owner };
  });
  expect(holds.filter(({ hold, owner }, index) => hold.owner !== owner || hold.order !== index)).toEqual([]);
  expect(holds.every(({ hold, owner }) => hold.isOf(owner) && !hold.isOf('0123456789abcdef'))).toBe(true);
});

it('only holds that are live and stand in the list of their producer are live ones, in every block', () => {
  const rows = new HoldRows();
  for (const [state, place] of [
    ['live', 'active'],
    ['lost', 'active'],
    ['unknown', 'active'],
    ['live', 'forgotten'],
    ['ended', 'ended'],
  ] as const) {
    for (let count = 0; count < 3000; count += 1) {
      const hold = rows.take();
      hold.begin(HOLD, producer, count, count);
      Object.assign(hold, { state, place, resource: `${state} ${place}` });
    }
  }
  const seen = new Map<string, number>();
  rows.forEachLive((resource) => seen.set(resource, (seen.get(resource) ?? 0) + 1));
  expect([...seen]).toEqual([['live active', 3000]]);
});

it('each mark is a mark of its own', () => {
  for (const mark of marks) {
    const hold = new HoldRows().take();
    hold.mark(mark);
    expect(marks.filter((other) => hold.is(other))).toEqual([mark]);
  }
});
