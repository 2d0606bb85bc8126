import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResourceClassifier } from '../../../../contract/resource.js';
import { KeyspacePart, KeyspaceView } from '../../../../exporter/sampler/keyspace-view.js';
import type { Sighting, SightingTime } from '../../../../exporter/sampler/sighting.js';
import { SnapshotBuilder } from '../../../../exporter/sampler/snapshot.js';
import type { StepKey } from '../../../../exporter/sampler/step.js';

const NO_LIMIT = 1000;
/** Two owners’ digests. */
const [ONE, TWO] = ['a'.repeat(16), 'b'.repeat(16)];

function key(name: string, leftMs: number | null = null, owner: string | null = ONE): StepKey {
  const bytes = Buffer.from(name);
  return { bytes, start: 0, end: bytes.length, leftMs, type: 'string', owner };
}

/** The view shows all its sightings in one object. */
function copySighting({ keyBytes, resource, expiresMonoMs, firstSeenMonoMs, firstSeenUs }: Sighting) {
  return { keyBytes, resource, expiresMonoMs, firstSeenMonoMs, firstSeenUs };
}

function view() {
  const classify = createResourceClassifier();
  const keyspace = new KeyspaceView(classify);
  const part = new KeyspacePart();
  const see = (seen: StepKey, time: SightingTime, at = part) => keyspace.see(at, seen, time);
  const made = {
    see,
    begin: (fresh: boolean, at = part) => keyspace.begin(at, fresh),
    end: (done: boolean, nowMs: number, maxKeys: number, explained = true) => {
      part.end = { kind: done ? 'done' : 'cut', serverUs: nowMs * 1000, explained };
      keyspace.endSweeps(nowMs, maxKeys);
    },
    values: () => Array.from(keyspace.values(), copySighting),
    changes: () => keyspace.takeChanges(),
  };
  const at = (monoMs: number) => ({ monoMs, serverUs: monoMs * 1000 });
  const names = () =>
    made
      .values()
      .map(({ keyBytes }) => keyBytes)
      .sort();
  return { made, at, names, keyspace, part };
}

describe('what is known after a sweep', () => {
  it('after a whole round: what the round saw', () => {
    const { made, at, names } = view();
    made.begin(true);
    made.see(key('lock:a'), at(0));
    made.see(key('lock:b'), at(0));
    made.end(true, 1, NO_LIMIT);
    made.begin(true);
    made.see(key('lock:b'), at(2));
    made.end(true, 3, NO_LIMIT);
    expect(names()).toEqual(['lock:b']);
  });

  it('after a cut sweep: also what the last round saw further on, until this round has passed it', () => {
    const { made, at, names } = view();
    made.begin(true);
    for (const name of ['lock:a', 'lock:y', 'lock:z']) made.see(key(name), at(0));
    made.end(true, 1, NO_LIMIT);
    made.begin(true);
    made.see(key('lock:b'), at(2));
    made.end(false, 3, NO_LIMIT);
    expect(names()).toEqual(['lock:a', 'lock:b', 'lock:y', 'lock:z']);
    made.begin(false);
    made.see(key('lock:z'), at(4));
    made.end(true, 5, NO_LIMIT);
    expect(names()).toEqual(['lock:b', 'lock:z']);
  });

  it('what was not looked at goes with its expiry, and for want of room', () => {
    const { made, at, names } = view();
    made.begin(true);
    made.see(key('lock:short', 5), at(0));
    made.see(key('lock:long', 500), at(0));
    made.end(true, 1, NO_LIMIT);
    made.begin(true);
    made.end(false, 10, NO_LIMIT);
    expect(names()).toEqual(['lock:long']);
    made.begin(false);
    made.see(key('lock:new'), at(11));
    made.end(false, 12, 1);
    expect(names()).toEqual(['lock:new']);
  });

  it('of a part that has other data than before: only what was seen since, and no ending of what went', () => {
    const { made, at, names, keyspace, part } = view();
    made.begin(true);
    for (const name of ['lock:a', 'lock:b']) made.see(key(name, 500), at(0));
    made.end(false, 1, NO_LIMIT);
    keyspace.renew(part);
    expect(names()).toEqual([]);
    made.begin(true);
    made.see(key('lock:b', 500), at(2));
    made.end(false, 3, NO_LIMIT);
    expect(names()).toEqual(['lock:b']);
    made.begin(false);
    made.end(true, 4, NO_LIMIT, false);
    expect([names(), made.changes()]).toEqual([['lock:b'], []]);
  });

  it('a key that comes twice in a sweep counts once, with the later look (B1)', () => {
    const { made, at } = view();
    made.begin(true);
    expect(made.see(key('lock:a', 10), at(0))).toBe(true);
    expect(made.see(key('lock:a', 90), at(1))).toBe(false);
    expect(made.values()).toMatchObject([{ expiresMonoMs: 91, firstSeenMonoMs: 0 }]);
  });

  it('the age belongs to the owner: a new one begins anew', () => {
    const { made, at } = view();
    made.begin(true);
    made.see(key('lock:a', null, ONE), at(5));
    made.begin(true);
    made.see(key('lock:a', null, ONE), at(10));
    expect(made.values()).toMatchObject([{ firstSeenUs: 5000 }]);
    made.see(key('lock:a', null, TWO), at(15));
    expect(made.values()).toMatchObject([{ firstSeenUs: 15_000 }]);
  });
});

describe('parts of the keyspace', () => {
  it('a key that moves to another part is one key, with its age', () => {
    const { made, at, names, keyspace, part } = view();
    const other = new KeyspacePart();
    made.begin(true);
    made.see(key('lock:a'), at(5));
    made.end(true, 6, NO_LIMIT);
    made.begin(true);
    made.begin(true, other);
    made.see(key('lock:a'), at(10), other);
    other.end = part.end = { kind: 'done', serverUs: 11_000, explained: true };
    keyspace.endSweeps(11, NO_LIMIT);
    expect(names()).toEqual(['lock:a']);
    expect(made.values()).toMatchObject([{ firstSeenUs: 5000 }]);
    expect(made.changes()).toEqual([]);
  });

  it('of a part that could not be looked at nothing is shown, and it comes back with its ages', () => {
    const { made, at, names, part, keyspace } = view();
    made.begin(true);
    made.see(key('lock:a'), at(5));
    made.end(true, 6, NO_LIMIT);
    made.begin(true);
    part.end = { kind: 'failed', serverUs: 0, explained: false };
    keyspace.endSweeps(7, NO_LIMIT);
    expect(names()).toEqual([]);
    made.begin(true);
    made.see(key('lock:a'), at(10));
    made.end(true, 11, NO_LIMIT);
    expect(made.values()).toMatchObject([{ firstSeenUs: 5000 }]);
  });

  it('of a part that left all is forgotten, without an explanation', () => {
    const { made, at, names, part, keyspace } = view();
    made.begin(true);
    made.see(key('lock:a', 500), at(5));
    part.end = { kind: 'left', serverUs: 0, explained: false };
    keyspace.endSweeps(7, NO_LIMIT);
    expect([names(), made.changes()]).toEqual([[], []]);
  });
});

describe('what is seen to happen without any client', () => {
  const NOTHING = { resource: 'default', renewals: 0, handovers: 0, released: 0, expired: 0 };
  type Look = { at: number; leftMs?: number | null; owner?: string | null };

  /** Looks at one key, one sweep each; a look without a life finds it gone. */
  function changesOf(looks: readonly Look[], explained = true) {
    const { made, at } = view();
    for (const look of looks) {
      made.begin(true);
      if (look.leftMs !== undefined) made.see(key('lock:a', look.leftMs, look.owner ?? ONE), at(look.at));
      made.end(true, look.at, NO_LIMIT, explained);
    }
    return made.changes();
  }

  it.each<[string, Look[], Partial<typeof NOTHING> | undefined]>([
    [
      'an expiry that moved up is a renewal',
      [
        { at: 0, leftMs: 9000 },
        { at: 5000, leftMs: 9000 },
      ],
      { renewals: 1 },
    ],
    [
      'one that stays is none',
      [
        { at: 0, leftMs: 9000 },
        { at: 5000, leftMs: 4003 },
      ],
      undefined,
    ],
    [
      'another owner is a handover',
      [
        { at: 0, leftMs: 9000 },
        { at: 5000, leftMs: 9000, owner: TWO },
      ],
      { handovers: 1 },
    ],
    ['gone before its expiry: released', [{ at: 0, leftMs: 9000 }, { at: 5000 }], { released: 1 }],
    ['gone without an expiry: released', [{ at: 0, leftMs: null }, { at: 5000 }], { released: 1 }],
    [
      'seen near its end and gone after it: expired',
      [{ at: 0, leftMs: 9000 }, { at: 8500, leftMs: 500 }, { at: 13_500 }],
      { expired: 1 },
    ],
    [
      'seen with half its lease left and gone after its end: perhaps released',
      [{ at: 0, leftMs: 9000 }, { at: 5000, leftMs: 4000 }, { at: 10_000 }],
      undefined,
    ],
    ['a short lease, seen once: perhaps released', [{ at: 0, leftMs: 300 }, { at: 5000 }], undefined],
    [
      'the lease of the owner before does not count',
      [{ at: 0, leftMs: 9000 }, { at: 5000, leftMs: 500, owner: TWO }, { at: 10_000 }],
      { handovers: 1 },
    ],
  ])('%s', (_what, looks, change) => {
    expect(changesOf(looks)).toEqual(change === undefined ? [] : [{ ...NOTHING, ...change }]);
  });

  it('a key that went away with its server has no explanation', () => {
    expect(changesOf([{ at: 0, leftMs: 9000 }, { at: 5000 }], false)).toEqual([]);
  });

  it('an owner that cannot be read tells neither renewal nor handover', () => {
    const { made, at } = view();
    for (const time of [0, 5000]) {
      made.begin(true);
      made.see({ ...key('lock:a', 9000, null), type: 'hash' }, at(time));
      made.end(true, time, NO_LIMIT);
    }
    expect(made.changes()).toEqual([]);
  });

  it('a look between two sweeps sees a renewal, and an ending', () => {
    const { made, at, keyspace } = view();
    made.begin(true);
    made.see(key('lock:a', 9000), at(0));
    made.end(true, 1, NO_LIMIT);
    keyspace.recheck(Buffer.from('lock:a'), 'pay', key('lock:a', 9000), at(4000));
    keyspace.recheckGone(Buffer.from('lock:a'), 6_000_000);
    keyspace.recheckGone(Buffer.from('lock:a'), 6_000_000);
    expect(made.changes()).toEqual([{ ...NOTHING, resource: 'pay', renewals: 1, released: 1 }]);
  });
});

describe('the summary by resource', () => {
  it('has wall times for expiries and the age of the oldest hold', () => {
    const { made, at, keyspace } = view();
    made.begin(true);
    made.see(key('lock:stock:1', 1000), at(0));
    made.see(key('lock:stock:2', 3000), at(500));
    made.see(key('lock:stock:3'), at(700));
    made.see(key('lock:pay:1'), at(900));
    const builder = new SnapshotBuilder();
    for (const sighting of keyspace.values()) builder.add(sighting);
    expect(builder.finish({ wallMs: 1_000_000, monoMs: 1000 })).toEqual([
      {
        resource: 'stock',
        keys: 3,
        withoutExpiry: 1,
        oldestHoldS: 1,
        earliestExpiryMs: 1_000_000,
        latestExpiryMs: 1_002_500,
      },
      { resource: 'pay', keys: 1, withoutExpiry: 1, oldestHoldS: 0.1 },
    ]);
  });

  it('adds up to the keys seen, whatever comes', () => {
    const anyKey = fc.record({ name: fc.string(), leftMs: fc.option(fc.nat(), { nil: null }) });
    fc.assert(
      fc.property(fc.array(anyKey), (seen) => {
        const { made, at, keyspace } = view();
        made.begin(true);
        for (const { name, leftMs } of seen) made.see(key(`lock:${name}`, leftMs), at(1));
        const builder = new SnapshotBuilder();
        for (const sighting of keyspace.values()) builder.add(sighting);
        const summaries = builder.finish({ wallMs: 1, monoMs: 1 });
        const total = summaries.reduce((sum, { keys }) => sum + keys, 0);
        expect(total).toBe(new Set(seen.map(({ name }) => Buffer.from(name).toString('hex'))).size);
        for (const { keys, withoutExpiry } of summaries) expect(withoutExpiry).toBeLessThanOrEqual(keys);
      }),
    );
  });
});
