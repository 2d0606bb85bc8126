import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lockId, ownerDigest } from '../../../../contract/lock-id.js';
import { HeldKeys } from '../../../../exporter/sampler/held-keys.js';

const STORE = 'test';

function hold(key: string, owner: string, resource = 'r') {
  return {
    lock: lockId(STORE, key),
    owner: ownerDigest(owner),
    resource,
    grantUs: 1,
    leaseMs: 1000,
    leftMs: 500,
    renewals: 0,
    keyBase64: Buffer.from(key).toString('base64'),
  };
}

function release(key: string, owner: string) {
  const { lock, resource, owner: digest } = hold(key, owner);
  const facts = { holdMs: 1, leaseMs: 1000, renewals: 0, peakUse: 0, lost: false, loopDelayMs: 0, atMs: 1 };
  return { kind: 'release', outcome: 'released', lock, owner: digest, resource, ...facts } as const;
}

function held(maxKeys?: number) {
  const heldKeys = new HeldKeys(STORE, maxKeys);
  return {
    heldKeys,
    take: (key: string, owner: string, resource?: string) =>
      heldKeys.applyHolds([hold(key, owner, resource)]),
    giveBack: (key: string, owner: string) => heldKeys.applyEvent(release(key, owner)),
    keys: () => Array.from(heldKeys.takeStock(), (row) => heldKeys.keyAt(row).toString('latin1')),
  };
}

describe('who holds a key', () => {
  it.each([
    ['the first of two gives back', ['one'], ['lock:a']],
    ['the second gives back', ['two'], ['lock:a']],
    ['both give back, the first first', ['one', 'two'], []],
    ['both give back, the second first', ['two', 'one'], []],
    ['a stranger gives back', ['three', 'three'], ['lock:a']],
  ])('%s', (_what, givers, left) => {
    const { take, giveBack, keys } = held();
    for (const owner of ['one', 'two', 'one']) take('lock:a', owner);
    for (const owner of givers) giveBack('lock:a', owner);
    expect(keys()).toEqual(left);
  });

  it('a key whose room was another’s has nothing of it', () => {
    const { heldKeys, take, giveBack, keys } = held();
    for (const owner of ['one', 'two']) take('lock:a', owner, 'first');
    for (let looks = 0; looks < 11; looks += 1)
      for (const key of heldKeys.takeStock()) heldKeys.note(key, false);
    for (const owner of ['one', 'two']) giveBack('lock:a', owner);
    take('lock:b', 'three', 'second');
    for (const key of heldKeys.takeStock()) heldKeys.note(key, false);
    expect([
      keys(),
      heldKeys.resourceOf(Buffer.from('lock:b')),
      heldKeys.resourceOf(Buffer.from('lock:a')),
    ]).toEqual([['lock:b'], 'second', undefined]);
    giveBack('lock:b', 'three');
    expect(heldKeys.size().keys).toBe(0);
  });

  it('a look that was under way says nothing of a hold that began since', () => {
    const { heldKeys, take, giveBack, keys } = held();
    take('lock:a', 'one');
    const [before] = heldKeys.takeStock();
    giveBack('lock:a', 'one');
    take('lock:a', 'two');
    if (before !== undefined) heldKeys.note(before, true);
    expect(keys()).toEqual(['lock:a']);
  });

  it('a look that is under way knows the lock that was released since, and no other in its place', () => {
    const { heldKeys, take, giveBack, keys } = held();
    take('lock:a', 'one', 'first');
    const [row = -1] = heldKeys.takeStock();
    const known = () => [heldKeys.lockOf(row), heldKeys.resourceAt(row), heldKeys.keyAt(row).toString()];
    giveBack('lock:a', 'one');
    for (let again = 0; again < 2; again += 1) {
      take('lock:b', 'two', 'second');
      expect(known()).toEqual([lockId(STORE, 'lock:a'), 'first', 'lock:a']);
      expect([heldKeys.resourceOf(Buffer.from('lock:a')), heldKeys.size().keys]).toEqual([undefined, 1]);
      take('lock:a', 'three', 'first');
      giveBack('lock:a', 'three');
    }
    expect(keys()).toEqual(['lock:b']);
  });

  it('a forged key for a lock that was just released is refused', () => {
    const { heldKeys, take, giveBack, keys } = held();
    take('lock:a', 'one');
    heldKeys.takeStock();
    giveBack('lock:a', 'one');
    heldKeys.applyHolds([{ ...hold('lock:a', 'two'), keyBase64: Buffer.from('other').toString('base64') }]);
    expect([keys(), heldKeys.size()]).toEqual([[], { keys: 0, evicted: 0, refused: 1 }]);
  });

  it('of too many the longest known goes', () => {
    const { heldKeys, take, keys } = held(2);
    for (const key of ['lock:a', 'lock:b', 'lock:c']) take(key, 'one');
    expect([keys(), heldKeys.size()]).toEqual([['lock:b', 'lock:c'], { keys: 2, evicted: 1, refused: 0 }]);
  });

  it('is told as by a set of owners for each key, whatever comes', () => {
    const step = fc.record({
      key: fc.constantFrom('lock:a', 'lock:ä', 'lock:c'),
      owner: fc.constantFrom('one', 'two', 'three'),
      what: fc.constantFrom('take', 'giveBack', 'look'),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { take, giveBack, keys } = held();
        const owners = new Map<string, Set<string>>();
        for (const { key, owner, what } of steps) {
          if (what === 'look') keys();
          else if (what === 'take') {
            take(key, owner);
            owners.set(key, (owners.get(key) ?? new Set()).add(owner));
          } else {
            giveBack(key, owner);
            owners.get(key)?.delete(owner);
          }
        }
        const expected = [...owners].flatMap(([key, by]) => (by.size > 0 ? [key] : []));
        expect(keys().sort()).toEqual(expected.map((key) => Buffer.from(key).toString('latin1')).sort());
      }),
    );
  });
});
