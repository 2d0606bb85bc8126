import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RecentFindings } from '../../../../exporter/findings.js';
import type { Overlap, OverlapEnd } from '../../../../exporter/ledger/finding.js';
import { seededRandom } from '../../../support/clocks.js';
import { type Step, type Told, type TrueHold, World } from './world.js';

const step: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.integer({ min: 1, max: 1500 }),
  process: fc.integer({ min: 0, max: 2 }),
  lock: fc.integer({ min: 0, max: 1 }),
  act: fc.oneof(
    { weight: 8, arbitrary: fc.constant<Step['act']>('acquire') },
    { weight: 3, arbitrary: fc.constant<Step['act']>('settle') },
    { weight: 2, arbitrary: fc.constant<Step['act']>('stall') },
    { weight: 4, arbitrary: fc.constantFrom<Step['act']>('die', 'delete', 'failover', 'drop', 'rest') },
  ),
});

/** The holds that were granted the lock while the work of `hold` went on. */
function truthOf(hold: TrueHold, holds: readonly TrueHold[]): TrueHold[] {
  const endMs = hold.endMs ?? Number.POSITIVE_INFINITY;
  return holds
    .filter((other) => other.lock === hold.lock && other.grantMs > hold.grantMs && other.grantMs < endMs)
    .sort((a, b) => a.grantMs - b.grantMs);
}

/** Overlaps that two arrived reports by one server's clock prove. */
function provable(hold: TrueHold, holds: readonly TrueHold[]): boolean {
  const { server, toldBy, arrived } = hold;
  if (!arrived.has('acquire') || !arrived.has('release') || toldBy !== server) return false;
  return truthOf(hold, holds).some(
    (other) =>
      other.server === server && other.arrived.has('acquire') && (hold.endMs ?? 0) - other.grantMs >= 1,
  );
}

function ownersOf<K extends 'overlap' | 'ghost_holder' | 'zombie_renewal'>(
  told: readonly Told[],
  kind: K,
): string[] {
  return told.flatMap(({ finding }) =>
    finding.kind === kind && 'holder' in finding ? (finding.holder.owner ?? []) : [],
  );
}

function checkOverlaps({ told, holds }: World, alone: boolean): void {
  const found = ownersOf(told, 'overlap');
  expect(new Set(found).size).toBe(found.length);
  for (const hold of holds) {
    const is = truthOf(hold, holds).length > 0;
    if (found.includes(hold.owner))
      expect({ owner: hold.owner, is }).toEqual({ owner: hold.owner, is: true });
    if (alone && provable(hold, holds)) expect(found).toContain(hold.owner);
  }
}

/** By the truth: an exact length is that of the window, from the first other grant that was reported until the work settled. */
function checkLengths(world: World, alone: boolean): number {
  const ends = world.told.flatMap(({ finding }) => (finding.kind === 'overlap_end' ? finding : []));
  const exact = ends.filter((end: OverlapEnd) => !end.approximate);
  for (const end of exact) {
    const hold = world.holds.find(({ owner }) => owner === end.owner);
    const others = hold ? truthOf(hold, world.holds).filter(({ arrived }) => arrived.has('acquire')) : [];
    const lengths = others.map(({ grantMs }) => (hold?.endMs ?? 0) - grantMs);
    expect(lengths.some((ms) => Math.abs(ms - end.lengthMs) < 2)).toBe(true);
    expect(end.lengthMs).toBeCloseTo(((end.untilUs ?? 0) - (end.fromUs ?? 0)) / 1000, 3);
  }
  if (alone) expect(new Set(ends.map(({ owner }) => owner)).size).toBe(ends.length);
  return exact.length;
}

/**
 * The suspect window as it is shown in the end: it begins with the first other whose report came, not later, and names
 * all of them and nobody else. Other exporters' clients are not known here, except the latest.
 */
function checkWindows(world: World, alone: boolean): number {
  const findings = new RecentFindings();
  for (const { finding, atMs } of world.told) findings.add(finding, atMs);
  const overlaps = findings.list().filter(({ kind }) => kind === 'overlap');
  let several = 0;
  for (const { holder, others, moreOthers, serverId, suspectFromUs, suspectUntilUs, ...rest } of overlaps) {
    const hold = world.holds.find(({ owner }) => owner === holder.owner);
    if (!hold || serverId === null || suspectFromUs === null) continue;
    const truth = truthOf(hold, world.holds).filter(({ server }) => server === serverId);
    const shown = others.flatMap(({ owner }) => owner ?? []);
    expect(truthOf(hold, world.holds).map(({ owner }) => owner)).toEqual(expect.arrayContaining(shown));
    // A new master tells of the last grant by the clock of the old one: then the window is called approximate.
    const isExact = rest.lengthMs !== null && !rest.approximate;
    const grants = isExact ? truth : truthOf(hold, world.holds);
    expect(grants.map(({ grantUs }) => grantUs)).toContain(suspectFromUs);
    if (suspectUntilUs !== null)
      expect(Math.abs(world.timeOf(serverId, suspectUntilUs) - (hold.endMs ?? 0))).toBeLessThan(2);
    if (!alone || hold.server !== serverId) continue;
    // Grants in the last millisecond before the end are not claimed.
    const known = truth.filter(
      ({ arrived, grantMs }) => arrived.has('acquire') && grantMs < (hold.endMs ?? 0) - 1,
    );
    const [first] = known;
    if (first) expect(suspectFromUs).toBeLessThanOrEqual(first.grantUs);
    expect(shown.length + moreOthers).toBeGreaterThanOrEqual(known.length);
    if (known.length > 1) several += 1;
  }
  return several;
}

/** A ghost was told of work that was still on, and whose client did not know, when Redis was looked at. */
function checkGhosts(world: World): void {
  const { told, holds } = world;
  for (const { finding } of told) {
    if (finding.kind !== 'ghost_holder') continue;
    const hold = holds.find(({ owner }) => owner === finding.holder.owner);
    const lookedMs = world.timeOf(finding.serverId, finding.seenUs) - 1;
    expect(hold?.endMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(lookedMs);
    expect(hold?.knewMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(lookedMs);
  }
}

it('tells no overlap, ghost or zombie that is not true, and each overlap whose reports arrived, once', () => {
  const seen = new Map<string, number>();
  const count = (what: string, by = 1) => seen.set(what, (seen.get(what) ?? 0) + by);
  const property = fc.property(
    fc.array(step, { minLength: 10, maxLength: 40 }),
    fc.integer({ min: 1, max: 2 ** 31 }),
    fc.constantFrom<1 | 3>(1, 3),
    (steps, seed, exporters) => {
      const world = new World(seededRandom(seed), exporters);
      world.run(steps);
      checkOverlaps(world, exporters === 1);
      checkGhosts(world);
      expect(ownersOf(world.told, 'zombie_renewal')).toEqual([]);
      count('exact length', checkLengths(world, exporters === 1));
      count('several others', checkWindows(world, exporters === 1));
      for (const situation of world.situations) count(situation);
      for (const { finding } of world.told) count(finding.kind);
      const proofs = world.told.flatMap(({ finding }) =>
        finding.kind === 'overlap' ? (finding as Overlap).provenBy : [],
      );
      for (const proof of proofs) count(`proven by ${proof}`);
    },
  );
  fc.assert(property, { numRuns: 300 });
  const wanted = [
    'granted while another works',
    'died while holding',
    'failover that loses keys',
    'a batch came late',
    'events dropped',
    'overlap',
    'overlap_end',
    'exact length',
    'several others',
    'ghost_holder',
    'abandoned',
    'proven by release',
    'proven by reports',
  ];
  const rare = wanted.filter((what) => (seen.get(what) ?? 0) < 5);
  expect(rare, JSON.stringify([...seen])).toEqual([]);
});
