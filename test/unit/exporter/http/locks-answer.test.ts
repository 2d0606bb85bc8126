import { expect, it } from 'vitest';
import { answerLocks, type KeyedLock, type LocksSource } from '../../../../exporter/http/locks-answer.js';

const LOCK: KeyedLock = {
  lock: '0123456789abcdef',
  resource: 'stock',
  type: 'string',
  leftMs: 1200,
  owner: 'aaaaaaaaaaaaaaaa',
  firstSeenUs: 1,
  lastSeenUs: 2,
  key: Buffer.from('lock:stock:1'),
};
const KNOWN = { app: 'shop', instance: 'shop-1', fence: 7, producer: 'p' };

function shownOf(change: Partial<KeyedLock>, revealKeys = false) {
  const source: LocksSource = {
    state: () => ({ status: 'ok', reason: undefined, last: { takenAtMs: 5, truncated: false } }),
    find: () => ({ matching: 1, locks: [{ ...LOCK, ...change }] }),
  };
  const holderOf = (owner: string) => (owner === LOCK.owner ? KNOWN : undefined);
  const answer = answerLocks({ limit: 1 }, 'orders', source, { revealKeys, holderOf });
  return answer.locks[0];
}

it('a lock names who reported its owner, and nobody else', () => {
  expect(shownOf({})?.holder).toEqual({ app: 'shop', instance: 'shop-1', fence: 7 });
  expect([shownOf({ owner: 'bbbbbbbbbbbbbbbb' })?.holder, shownOf({ owner: null })?.holder]).toEqual([
    null,
    null,
  ]);
});

it('a lease that is over since the look is told apart from one that is on, and from none', () => {
  expect([1200, 0, null].map((leftMs) => shownOf({ leftMs })?.expired)).toEqual([false, true, false]);
});

it('a key is shown on demand only', () => {
  expect(JSON.stringify(shownOf({}))).not.toContain('lock:stock:1');
  expect(shownOf({}, true)).toMatchObject({ key: 'lock:stock:1', expired: false });
});
