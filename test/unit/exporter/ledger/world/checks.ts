import { expect } from 'vitest';
import { RecentFindings } from '../../../../../exporter/findings.js';
import type { Finding, OverlapEnd } from '../../../../../exporter/ledger/finding.js';
import { HOLDS_PER_LOCK } from '../../../../../exporter/ledger/hold-table.js';
import { lookKey, SILENT_BEATS } from './exporter.js';
import { othersOf, ownerOf, type Run, rivalsOf, type Told, type TrueHold } from './truth.js';
import type { Setting, World } from './world.js';

/** Times are whole µs, and a grant in the last millisecond before an end is not claimed. */
const MARGIN_MS = 2;

/** Counts what was seen, so that a test can demand it. */
export type Count = (what: string) => void;

/** Holds all that a world's exporters told against its truth. */
export function checkWorld(world: World, setting: Setting, count: Count): void {
  checkOnce(world);
  checkOverlaps(world, count);
  checkLengths(world, setting, count);
  checkWindows(world, setting, count);
  checkGhosts(world);
  checkZombies(world, count);
  checkAbandoned(world, count);
  checkRegressions(world, count);
  checkStandings(world, count);
  checkUnsure(world, count);
}

function toldOf<K extends Finding['kind']>({ records }: World, kind: K): Told<Finding & { kind: K }>[] {
  return records.told.filter((one): one is Told<Finding & { kind: K }> => one.finding.kind === kind);
}

function holdOf({ holds }: World, finding: Finding): TrueHold {
  const hold = holds.find(({ owner }) => owner === ownerOf(finding));
  if (!hold) throw new Error(`a ${finding.kind} of nobody`);
  return hold;
}

/** What is told once per hold is told once in each run of an exporter, and by none but its client's. */
function checkOnce(world: World): void {
  const seen = new Set<string>();
  for (const { run, finding } of world.records.told) {
    if (finding.kind === 'overlap_other' || finding.kind === 'zombie_renewal') continue;
    const stage = finding.kind === 'abandoned' ? String(finding.takenOver) : '';
    const name = [finding.kind, stage, ownerOf(finding), run.epoch].join(' ');
    expect(seen, name).not.toContain(name);
    seen.add(name);
  }
}

function checkOverlaps(world: World, count: Count): void {
  const overlaps = toldOf(world, 'overlap');
  for (const { finding } of overlaps) {
    const hold = holdOf(world, finding);
    const isTrue = othersOf(hold, world.holds).length > 0;
    if (!isTrue) count('an overlap with a rival by a new master');
    expect(isTrue || rivalsOf(hold, world.holds).length > 0, `${hold.owner} overlapped`).toBe(true);
    count(`overlap proven by ${finding.provenBy}`);
  }
  for (const run of world.records.runs) {
    const found = overlaps.filter((one) => one.run === run).map(({ finding }) => ownerOf(finding));
    for (const hold of world.holds) {
      if (!isProven(hold, world.holds, run)) continue;
      expect(found, `${run.epoch} finds ${hold.owner}`).toContain(hold.owner);
    }
  }
  const owners = overlaps.map(({ finding }) => ownerOf(finding));
  if (new Set(owners).size < owners.length) count('an overlap told by two runs');
}

/** An answer of Redis that proves it has arrived, or two reports by one server's clock. */
function isProven(hold: TrueHold, holds: readonly TrueHold[], run: Run): boolean {
  const { acquire, release, proof } = run.arrived.get(hold.owner) ?? {};
  // Of a lock with more holds the oldest are forgotten.
  if (holds.filter(({ lock }) => lock === hold.lock).length > HOLDS_PER_LOCK) return false;
  if (proof !== undefined) return true;
  if (acquire === undefined || release === undefined || hold.toldBy !== hold.server) return false;
  return othersOf(hold, holds).some(
    (other) =>
      other.server === hold.server &&
      run.arrived.get(other.owner)?.acquire !== undefined &&
      (hold.endMs ?? 0) - other.grantMs > MARGIN_MS &&
      !contradicts(hold, other),
  );
}

/** The fences say the opposite of the clock, which may have been set. */
function contradicts(earlier: TrueHold, later: TrueHold): boolean {
  return earlier.fence !== undefined && later.fence !== undefined && later.fence <= earlier.fence;
}

/** A length is that from the first other grant that was reported until the work settled, or it is called approximate. */
function checkLengths(world: World, { ids }: Setting, count: Count): void {
  for (const told of toldOf(world, 'overlap_end')) {
    const { approximate, lengthMs, fromUs = 0, untilUs = 0 } = told.finding;
    expect(lengthMs).toBeGreaterThanOrEqual(0);
    if (ids !== 'known') expect(approximate).toBe(true);
    count(approximate ? 'approximate length' : 'exact length');
    if (approximate) continue;
    expect(lengthMs).toBeCloseTo((untilUs - fromUs) / 1000, 3);
    // What came with the batch that let it be told may be in it or not.
    const lengths = [false, true].map((withLast) => lengthOf(world, told, withLast));
    expect(
      lengths.some((ms) => Math.abs(ms - lengthMs) < MARGIN_MS),
      `${lengthMs} of ${lengths}`,
    ).toBe(true);
  }
}

/** By the truth, but only of the others that had reported. */
function lengthOf(world: World, { run, atMs, finding }: Told<OverlapEnd>, withLast: boolean): number {
  const hold = holdOf(world, finding);
  const [first] = [...rivalsOf(hold, world.holds), ...othersOf(hold, world.holds)].filter((other) => {
    const reportedMs = run.arrived.get(other.owner)?.acquire ?? Number.POSITIVE_INFINITY;
    const isReported = withLast ? reportedMs <= atMs : reportedMs < atMs;
    return isReported && other.server === finding.serverId && !contradicts(hold, other);
  });
  return (hold.endMs ?? 0) - (first?.grantMs ?? 0);
}

/**
 * The suspect window as it is shown in the end: it begins with the first other whose report came, not later, and names
 * all of them and nobody else. Other exporters' clients are not known here, except the latest.
 */
function checkWindows(world: World, { exporters, ids }: Setting, count: Count): void {
  for (const run of world.records.runs) {
    const findings = new RecentFindings();
    for (const one of world.records.told) if (one.run === run) findings.add(one.finding, one.atMs);
    for (const shown of findings.list()) {
      if (shown.kind !== 'overlap') continue;
      const hold = world.holds.find(({ owner }) => owner === shown.holder.owner);
      if (!hold) throw new Error('an overlap of nobody');
      const others = [...othersOf(hold, world.holds), ...rivalsOf(hold, world.holds)];
      const named = shown.others.flatMap(({ owner }) => owner ?? []);
      expect(others.map(({ owner }) => owner)).toEqual(expect.arrayContaining(named));
      if (ids !== 'known' || shown.serverId === null || shown.suspectFromUs === null) continue;
      checkSpan(world, hold, { ...shown, serverId: shown.serverId });
      const { acquire, release } = run.arrived.get(hold.owner) ?? {};
      const isBounded = hold.server === shown.serverId && hold.toldBy === shown.serverId;
      if (exporters === 3 || acquire === undefined || release === undefined || !isBounded) continue;
      const known = others.filter(
        (other) =>
          other.server === shown.serverId &&
          run.arrived.get(other.owner)?.acquire !== undefined &&
          !contradicts(hold, other) &&
          other.grantMs < (hold.endMs ?? 0) - MARGIN_MS,
      );
      const [first] = known;
      if (first) expect(shown.suspectFromUs).toBeLessThanOrEqual(first.grantUs);
      expect(named.length + shown.moreOthers).toBeGreaterThanOrEqual(known.length);
      if (known.length > 1) count('several others');
    }
  }
}

function checkSpan(
  world: World,
  hold: TrueHold,
  shown: {
    serverId: string;
    suspectFromUs: number | null;
    suspectUntilUs: number | null;
    lengthMs: number | null;
    approximate: boolean;
  },
): void {
  const { serverId, suspectFromUs, suspectUntilUs, lengthMs, approximate } = shown;
  const others = [...othersOf(hold, world.holds), ...rivalsOf(hold, world.holds)];
  // A new master tells of the last grant by the clock of the old one: then the window is called approximate.
  const isExact = lengthMs !== null && !approximate;
  const grants = isExact ? others.filter(({ server }) => server === serverId) : others;
  expect(grants.map(({ grantUs }) => grantUs)).toContain(suspectFromUs);
  if (suspectUntilUs === null) return;
  const untilMs = world.redis.serverOf(serverId)?.timeOf(suspectUntilUs) ?? 0;
  expect(Math.abs(untilMs - (hold.endMs ?? 0))).toBeLessThan(MARGIN_MS);
}

/** A ghost was told of work that was still on, and whose client did not know, when Redis was looked at. */
function checkGhosts(world: World): void {
  for (const { finding, producing } of toldOf(world, 'ghost_holder')) {
    const { found, serverId, seenUs, lock } = finding;
    const hold = holdOf(world, finding);
    const lookedMs = (world.redis.serverOf(serverId)?.timeOf(seenUs) ?? 0) - 1;
    expect(hold.endMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(lookedMs);
    expect(hold.knewMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(lookedMs);
    expect(found).toBe(world.records.looks.get(lookKey(serverId, seenUs, lock)));
    expect(found).not.toBe(hold.owner);
    expect(producing).toMatchObject({ sure: true, closed: false });
  }
}

/** Somebody had renewed the key after its owner gave it up, and once more than is told. */
function checkZombies(world: World, count: Count): void {
  const told = toldOf(world, 'zombie_renewal');
  for (const { finding, run, atMs, arrived, producing } of told) {
    const hold = holdOf(world, finding);
    const sofar = told.filter(
      (one) => one.run === run && ownerOf(one.finding) === hold.owner && one.atMs <= atMs,
    );
    const renewals = hold.lateRenewalsMs.filter((ms) => ms < atMs);
    expect(sofar.length, `renewals of ${hold.owner}`).toBeLessThan(renewals.length);
    expect(arrived.release !== undefined || producing?.closed).toBe(true);
  }
  for (const run of world.records.runs) {
    for (const [owner, rises] of run.risesSeen) {
      if (rises < 4) continue;
      count('a zombie that must be found');
      const found = told.filter((one) => one.run === run && ownerOf(one.finding) === owner);
      expect(found, `${run.epoch} finds the zombie ${owner}`).not.toEqual([]);
    }
  }
}

/** Its client was silent in truth, its lease was over, and it had told no end; another had the lock where that is said. */
function checkAbandoned(world: World, count: Count): void {
  const told = toldOf(world, 'abandoned');
  for (const { finding, atMs, producing, arrived } of told) {
    const hold = holdOf(world, finding);
    expect(atMs - (producing?.heardMs ?? 0)).toBeGreaterThanOrEqual(silenceMs(hold));
    expect(producing).toMatchObject({ sure: true, closed: false });
    expect(arrived).not.toHaveProperty('release');
    expect(arrived).not.toHaveProperty('goodbye');
    expect(atMs).toBeGreaterThanOrEqual(hold.grantMs + hold.leaseMs);
    count(finding.takenOver ? 'abandoned, taken over' : 'abandoned');
    if (finding.takenOver) expect(isFollowed(hold, world, atMs)).toBe(true);
  }
  for (const run of world.records.runs) {
    if (run.endedMs !== undefined) continue;
    for (const hold of world.holds) {
      if (!isLeftBehind(world, hold, run)) continue;
      count('a hold that must be abandoned');
      const found = told.filter((one) => one.run === run && ownerOf(one.finding) === hold.owner);
      expect(found, `${run.epoch} finds ${hold.owner} abandoned`).not.toEqual([]);
      const isTaken = world.holds.some(
        (other) =>
          other.lock === hold.lock &&
          other.server === hold.server &&
          other.grantMs > hold.grantMs &&
          !contradicts(hold, other) &&
          run.arrived.get(other.owner)?.acquire !== undefined,
      );
      if (isTaken && world.ids === 'known')
        expect(found.at(-1)?.finding.takenOver, `${hold.owner} taken over`).toBe(true);
    }
  }
}

function silenceMs({ leaseMs }: TrueHold): number {
  return SILENT_BEATS * Math.max(1000, leaseMs / 5);
}

/** Another was granted the lock later; or a new master had the key of another already when the old one granted it. */
function isFollowed(hold: TrueHold, { holds, records }: World, byMs: number): boolean {
  const elsewhere = [...records.looks].flatMap(([look, owner]) =>
    look.startsWith(hold.server) ? [] : owner,
  );
  return holds.some(
    ({ owner, lock, grantMs }) =>
      lock === hold.lock &&
      owner !== hold.owner &&
      grantMs <= byMs &&
      (grantMs > hold.grantMs || elsewhere.includes(owner)),
  );
}

/** Its client died, all that was to be known of it had arrived, and nothing was told of the hold that would end it. */
function isLeftBehind(world: World, hold: TrueHold, run: Run): boolean {
  const { acquire, release, goodbye, lost } = run.arrived.get(hold.owner) ?? {};
  const producing = run.producers.get(hold.producer);
  if (acquire === undefined || producing === undefined || !producing.sure) return false;
  if (release !== undefined || goodbye !== undefined || lost !== undefined) return false;
  const isGhost = world.records.told.some(
    ({ finding }) => finding.kind === 'ghost_holder' && ownerOf(finding) === hold.owner,
  );
  return world.dead.has(hold.producer) && hold.gaveUpMs === undefined && !isGhost;
}

/** The fence of an earlier grant by the same server was as high. */
function checkRegressions(world: World, count: Count): void {
  const told = toldOf(world, 'fence_regression');
  for (const { finding } of told) {
    const hold = holdOf(world, finding);
    const other = world.holds.find(({ owner }) => owner === finding.other.owner);
    expect(other).toMatchObject({ lock: hold.lock, server: hold.server });
    expect(other?.grantMs).toBeLessThan(hold.grantMs);
    expect(other?.fence ?? 0).toBeGreaterThanOrEqual(hold.fence ?? 0);
  }
  for (const run of world.records.runs) {
    for (const hold of world.holds) {
      if (!hasTooLowFence(world, hold, run)) continue;
      count('a fence that must be called too low');
      const found = told.filter((one) => one.run === run && ownerOf(one.finding) === hold.owner);
      expect(found, `${run.epoch} finds the fence of ${hold.owner}`).toHaveLength(1);
    }
  }
}

function hasTooLowFence({ holds, ids }: World, hold: TrueHold, run: Run): boolean {
  const knows = (one: TrueHold) => run.arrived.get(one.owner)?.acquire !== undefined;
  const ofLock = holds.filter(({ lock }) => lock === hold.lock);
  if (ids !== 'known' || ofLock.length > HOLDS_PER_LOCK || hold.fence === undefined || !knows(hold))
    return false;
  return ofLock.some(
    ({ server, grantMs, fence = 0, ...other }) =>
      server === hold.server &&
      grantMs < hold.grantMs &&
      fence >= (hold.fence ?? 0) &&
      run.arrived.get(other.owner)?.acquire !== undefined,
  );
}

/** A key is foreign if its owner was never reported to that run, and an orphan if its client is silent in truth. */
function checkStandings(world: World, count: Count): void {
  for (const { atMs, owner, standing, arrived, producers, run } of world.records.judged) {
    count(`a key ${standing}`);
    const hold = world.holds.find((one) => one.owner === owner);
    if (!hold) throw new Error('a key of nobody');
    expect(standing === 'foreign', `${owner} is ${standing}`).toBe(arrived.known === undefined);
    if (standing === 'foreign') continue;
    const { heardMs = Number.NEGATIVE_INFINITY, closed = false } = producers.get(hold.producer) ?? {};
    const silentMs = atMs - heardMs;
    if (standing === 'orphan') expect(closed || silentMs >= silenceMs(hold), `${owner} is silent`).toBe(true);
    // By the uptime of the exporter, which may have stood still meanwhile.
    if (run.stoodStill || arrived.release !== undefined || !world.dead.has(hold.producer)) continue;
    if (silentMs < silenceMs(hold) + 1) continue;
    count('an orphan that must be found');
    expect(standing, `${owner} is an orphan`).toBe('orphan');
  }
}

/** What is not known is counted as such, from the restart or the gap until the next full set. */
function checkUnsure({ records }: World, count: Count): void {
  for (const { unsure, least, most } of records.counted) {
    expect(unsure).toBeGreaterThanOrEqual(least);
    expect(unsure).toBeLessThanOrEqual(most);
    if (least > 0) count('holders that must be unsure');
  }
}
