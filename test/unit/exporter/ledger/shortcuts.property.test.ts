import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LockEvent } from '../../../../contract/event.js';
import type { Finding } from '../../../../exporter/ledger/finding.js';
import { HoldRows } from '../../../../exporter/ledger/hold-rows.js';
import { LockHistory } from '../../../../exporter/ledger/lock-history.js';
import { LedgerBench } from './batches.js';
import { acquired, lost, release } from './events.js';

const servers = fc.constantFrom('s1', 's1', 's1', 's1', 's2');
/** Times in a few steps, so that equal ones are common; reports come late by a few of them. */
const one = fc.record({
  gapUs: fc.nat({ max: 3 }),
  workUs: fc.nat({ max: 3 }),
  grantedBy: servers,
  settledBy: servers,
  fenceAhead: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
  grantLate: fc.nat({ max: 2 }),
  endLate: fc.nat({ max: 4 }),
  ends: fc.constantFrom('released', 'released', 'released', 'lost', 'never'),
});
type One = typeof one extends fc.Arbitrary<infer T> ? T : never;

/** The reports of all holds of one lock, in the order in which they arrive. */
function reportsOf(holds: readonly One[]): LockEvent[] {
  const reports: { at: number; event: LockEvent }[] = [];
  let us = 1000;
  holds.forEach((hold, index) => {
    us += hold.gapUs;
    const owner = index.toString(16).padStart(16, '0');
    const fence = hold.fenceAhead === undefined ? undefined : us + hold.fenceAhead;
    const who = { owner, ...(fence === undefined ? { fence: undefined } : { fence }) };
    const grant = acquired({ ...who, serverUs: us, serverId: hold.grantedBy });
    reports.push({ at: us + hold.grantLate, event: grant });
    const endUs = us + hold.workUs;
    const end = { ...who, serverUs: endUs, settledUs: endUs, serverId: hold.settledBy };
    const at = endUs + hold.endLate;
    if (hold.ends === 'released') reports.push({ at, event: release({ ...end, outcome: 'released' }) });
    if (hold.ends === 'lost') reports.push({ at, event: lost({ ...who, serverUs: endUs, serverId: 's1' }) });
  });
  return reports.sort((a, b) => a.at - b.at).map(({ event }) => event);
}

function findingsOf(reports: readonly LockEvent[]): Finding[] {
  const bench = new LedgerBench();
  return reports.flatMap((event) => bench.send('p1', { events: [event] }));
}

afterEach(() => vi.restoreAllMocks());

describe('a ledger that', () => {
  it('compares every hold finds nothing that one does not find which leaves out the needless comparisons', () => {
    let found = 0;
    let spared = 0;
    const isFront = LockHistory.prototype.isFront;
    const property = fc.property(fc.array(one, { minLength: 2, maxLength: 20 }), (holds) => {
      const reports = reportsOf(holds);
      const watch = vi.spyOn(LockHistory.prototype, 'isFront').mockImplementation(function (
        this: LockHistory,
        hold,
      ) {
        const front = isFront.call(this, hold);
        if (front) spared += 1;
        return front;
      });
      const quick = findingsOf(reports);
      watch.mockReturnValue(false);
      const full = findingsOf(reports);
      watch.mockRestore();
      found += full.length;
      expect(quick).toEqual(full);
    });
    fc.assert(property, { numRuns: 3000 });
    expect(found).toBeGreaterThan(1000);
    expect(spared).toBeGreaterThan(1000);
  });

  it('takes a new row for every hold finds nothing else than one that uses them again', () => {
    let taken = 0;
    const property = fc.property(fc.array(one, { minLength: 20, maxLength: 60 }), (holds) => {
      const reports = reportsOf(holds);
      const again = findingsOf(reports);
      const watch = vi.spyOn(HoldRows.prototype, 'giveBack').mockImplementation(() => {
        taken += 1;
      });
      const anew = findingsOf(reports);
      watch.mockRestore();
      expect(again).toEqual(anew);
    });
    fc.assert(property, { numRuns: 500 });
    expect(taken).toBeGreaterThan(1000);
  });
});
