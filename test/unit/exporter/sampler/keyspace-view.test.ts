import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResourceClassifier } from '../../../../contract/resource.js';
import { KeyspaceView } from '../../../../exporter/sampler/keyspace-view.js';
import { SnapshotBuilder } from '../../../../exporter/sampler/snapshot.js';
import type { StepKey } from '../../../../exporter/sampler/step.js';

const NO_LIMIT = 1000;

function key(name: string, leftMs: number | null = null, owner: string | null = 'aa'): StepKey {
  return { key: Buffer.from(name), leftMs, type: 'string', owner };
}

function view() {
  const keyspace = new KeyspaceView(createResourceClassifier());
  const see = (seen: StepKey, time: { monoMs: number; serverUs: number }) =>
    keyspace.see(seen.key.toString('latin1'), seen, time);
  const made = {
    see,
    begin: (fresh: boolean) => keyspace.begin(fresh),
    end: (done: boolean, nowMs: number, maxKeys: number) => keyspace.end(done, nowMs, maxKeys),
    values: () => keyspace.values(),
  };
  const at = (monoMs: number) => ({ monoMs, serverUs: monoMs * 1000 });
  const names = () => [...made.values()].map(({ keyBytes }) => keyBytes).sort();
  return { made, at, names };
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

  it('a key that comes twice in a sweep counts once, with the later look (B1)', () => {
    const { made, at } = view();
    made.begin(true);
    expect(made.see(key('lock:a', 10), at(0))).toBe(true);
    expect(made.see(key('lock:a', 90), at(1))).toBe(false);
    expect([...made.values()]).toMatchObject([{ expiresMonoMs: 91, firstSeenMonoMs: 0 }]);
  });

  it('the age belongs to the owner: a new one begins anew', () => {
    const { made, at } = view();
    made.begin(true);
    made.see(key('lock:a', null, 'aa'), at(5));
    made.begin(true);
    made.see(key('lock:a', null, 'aa'), at(10));
    expect([...made.values()]).toMatchObject([{ firstSeenUs: 5000 }]);
    made.see(key('lock:a', null, 'bb'), at(15));
    expect([...made.values()]).toMatchObject([{ firstSeenUs: 15_000 }]);
  });
});

describe('the summary by resource', () => {
  it('has wall times for expiries and the age of the oldest hold', () => {
    const { made, at } = view();
    made.begin(true);
    made.see(key('lock:stock:1', 1000), at(0));
    made.see(key('lock:stock:2', 3000), at(500));
    made.see(key('lock:stock:3'), at(700));
    made.see(key('lock:pay:1'), at(900));
    const builder = new SnapshotBuilder();
    for (const sighting of made.values()) builder.add(sighting);
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
        const { made, at } = view();
        made.begin(true);
        for (const { name, leftMs } of seen) made.see(key(`lock:${name}`, leftMs), at(1));
        const builder = new SnapshotBuilder();
        for (const sighting of made.values()) builder.add(sighting);
        const summaries = builder.finish({ wallMs: 1, monoMs: 1 });
        const total = summaries.reduce((sum, { keys }) => sum + keys, 0);
        expect(total).toBe(new Set(seen.map(({ name }) => Buffer.from(name).toString('hex'))).size);
        for (const { keys, withoutExpiry } of summaries) expect(withoutExpiry).toBeLessThanOrEqual(keys);
      }),
    );
  });
});
