import { expect, it } from 'vitest';
import { HOLD_MARKS, Hold, type HoldMark, NUMBERS_PER_HOLD } from '../../../../exporter/ledger/hold.js';
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
const makeHold = () => new Hold(new Float64Array(2 * NUMBERS_PER_HOLD), NUMBERS_PER_HOLD, producer);

const marks = Object.keys(HOLD_MARKS) as HoldMark[];

/** All that can be read of it. */
function read(hold: Hold): Record<string, unknown> {
  const accessors = Object.getOwnPropertyDescriptors(Hold.prototype);
  const names = Object.entries(accessors).flatMap(([name, { get }]) => (get ? [name] : []));
  const values = [...Object.keys(hold), ...names].map((name) => [name, Reflect.get(hold, name)]);
  return Object.fromEntries([...values, ...marks.map((mark) => [mark, hold.is(mark)])]);
}

it('a hold that begins again is like one that never was another', () => {
  const used = makeHold();
  used.begin({ ...HOLD, owner: 'bbbbbbbbbbbbbbbb' }, producer, 5, 1);
  used.grant(10, 's1', 7);
  used.work(20, 's1');
  Object.assign(used, { leaseEndUs: 1, leaseEndMs: 2, releasedUs: 3, loopDelayMs: 4, expiresUs: 5 });
  const links = ['suspicion', 'open', 'next', 'previous', 'older', 'younger', 'history', 'producer'];
  for (const [name, value] of Object.entries(used)) {
    if (typeof value === 'number') Reflect.set(used, name, 99);
    else if (!links.includes(name)) Reflect.set(used, name, 'ended');
  }
  for (const mark of marks) used.mark(mark);
  expect(marks.map((mark) => used.is(mark))).toEqual(marks.map(() => true));
  const fresh = makeHold();
  fresh.begin(HOLD, producer, 30, 2);
  expect(read(used)).not.toEqual(read(fresh));
  used.begin(HOLD, producer, 30, 2);
  expect(read(used)).toEqual(read(fresh));
  expect(read(fresh)).toMatchObject({ lock: HOLD.lock, knownMs: 30, leaseEndMs: 0, fence: undefined });
});

it('each mark is a mark of its own', () => {
  for (const mark of marks) {
    const hold = makeHold();
    hold.mark(mark);
    expect(marks.filter((other) => hold.is(other))).toEqual([mark]);
  }
});
