import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LockEvent } from '../../../../contract/event.js';
import { createLedger } from '../../../../exporter/ledger/ledger.js';
import { acquired, check, lost, release, renewal } from './events.js';

/** One worker's hold: granted, works until `settledUs`, and asks Redis about its lock at `asksUs`. */
interface Worker {
  grantUs: number;
  settledUs: number;
  asksUs: number[];
  releasesUs: number;
}

const worker: fc.Arbitrary<Worker> = fc
  .record({
    grantUs: fc.integer({ min: 1, max: 200 }),
    workUs: fc.integer({ min: 1, max: 100 }),
    asks: fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 3 }),
    releaseAfterUs: fc.integer({ min: 0, max: 20 }),
  })
  .map(({ grantUs, workUs, asks, releaseAfterUs }) => ({
    grantUs,
    settledUs: grantUs + workUs,
    asksUs: asks.filter((us) => us < workUs).map((us) => grantUs + us),
    releasesUs: grantUs + workUs + releaseAfterUs,
  }));

/** The latest grant that Redis knew of when it was asked at `atUs`. */
function latestGrant(workers: readonly Worker[], atUs: number): number {
  return Math.max(...workers.map((one) => one.grantUs).filter((us) => us <= atUs));
}

/** What the client of `one` reports: the time of a grant is its fence, as in the script. */
function report(one: Worker, workers: readonly Worker[]): { atUs: number; event: LockEvent }[] {
  const of = { owner: one.grantUs.toString(16).padStart(16, '0'), fence: one.grantUs };
  const asked = [...one.asksUs, one.releasesUs].map((atUs, n) => {
    const latestUs = latestGrant(workers, atUs);
    const answer = { ...of, latestFence: latestUs, latestGrantUs: latestUs };
    const outcome = latestUs > one.grantUs ? 'stolen' : undefined;
    if (atUs === one.releasesUs && n === one.asksUs.length) {
      return {
        atUs,
        event: release({ ...answer, settledUs: one.settledUs, outcome: outcome ?? 'released' }),
      };
    }
    if (n === 0) return { atUs, event: renewal({ ...answer, outcome: outcome ?? 'renewed' }) };
    if (n === 1) return { atUs, event: check({ ...answer, outcome: outcome ?? 'held' }) };
    return { atUs, event: lost(outcome ? answer : of) };
  });
  return [{ atUs: one.grantUs, event: acquired(of) }, ...asked];
}

/** By the definition: the latest grant known to an answer came before the work settled. */
function overlaps(one: Worker, workers: readonly Worker[]): boolean {
  const whileOn = one.asksUs.some((atUs) => latestGrant(workers, atUs) > one.grantUs);
  const latestUs = latestGrant(workers, one.releasesUs);
  return whileOn || (latestUs > one.grantUs && latestUs < one.settledUs);
}

it('finds each overlap that an answer could prove, once, and no other; in any order of arrival', () => {
  const property = fc.property(
    fc.uniqueArray(worker, { selector: (one) => one.grantUs, minLength: 1, maxLength: 6 }),
    fc.boolean(),
    (workers, reversed) => {
      const reports = workers.flatMap((one) => report(one, workers)).sort((a, b) => a.atUs - b.atUs);
      if (reversed) reports.reverse();
      const ledger = createLedger({ maxHolds: 100 });
      const found = reports.flatMap(({ event }) => ledger.observe(event, { store: 's' }));
      const expected = workers.filter((one) => overlaps(one, workers)).map((one) => one.grantUs);
      expect(found.map((finding) => finding.fence).sort()).toEqual(expected.sort());
      for (const finding of found) expect(finding.latestFence).toBeGreaterThan(finding.fence);
    },
  );
  fc.assert(property, { numRuns: 500 });
});

it('gives no more than one finding per hold, and stays within its bound, for any events', () => {
  const owner = fc.constantFrom('aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb', 'cccccccccccccccc');
  const fence = fc.integer({ min: 1, max: 5 });
  const change = fc.record({ owner, fence, latestFence: fence });
  const event = fc.oneof(
    change.map(({ owner: by, fence: at }) => acquired({ owner: by, fence: at })),
    ...[renewal, check, lost, release].map((make) => change.map((fields) => make(fields))),
  );
  const property = fc.property(fc.array(event, { maxLength: 40 }), (events) => {
    const ledger = createLedger({ maxHolds: 3 });
    const owners = events.flatMap((one) => ledger.observe(one, { store: 's' })).map((one) => one.owner);
    expect(new Set(owners).size).toBe(owners.length);
    expect(ledger.size().holds).toBeLessThanOrEqual(3);
  });
  fc.assert(property);
});
