import { causeOf } from './cause.js';
import type { Finding, Overlap, OverlapEnd, Party } from './finding.js';
import { type Hold, partyOf, RELEASE_UNDER_WAY_MS } from './hold.js';
import type { HoldTable } from './hold-table.js';
import { type NotOwnedEvent, provesOverlap } from './not-owned.js';
import type { ServerHistory } from './server-history.js';

/** A grant told again by Redis without its time is worked out from whole milliseconds. */
const UNFENCED_MARGIN_US = 2000;
/** The other's reports are waited for so long before the length is called approximate. */
const WAIT_MS = 30_000;
/** Overlaps whose length is not known yet; the oldest is closed for a further one. */
const MAX_OPEN = 2000;
const MAX_OPEN_MS = 3_600_000;

/** Finds overlaps and measures them. */
export class Overlaps {
  readonly #store: string;
  readonly #table: HoldTable;
  readonly #servers: ServerHistory;
  readonly #open = new Set<Hold>();

  constructor(store: string, table: HoldTable, servers: ServerHistory) {
    this.#store = store;
    this.#table = table;
    this.#servers = servers;
  }

  /** Overlaps whose length is not known yet. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Holds `hold` against the others of its lock, after its grant or the end of its work became known. */
  compare(hold: Hold, nowMs: number, findings: Finding[]): void {
    const { isFront } = hold;
    if (isFront && this.#open.size === 0) return;
    for (let other = this.#table.youngestOf(hold.lock); other; other = other.older) {
      if (other !== hold && !isFront) {
        this.#comparePair(hold, other, nowMs, findings);
        this.#comparePair(other, hold, nowMs, findings);
      }
      if (other.open) this.#measure(other, nowMs, findings);
    }
  }

  /** Judges an answer that said "you do not own this lock". */
  answered(
    hold: Hold,
    event: NotOwnedEvent,
    serverId: string | undefined,
    nowMs: number,
    findings: Finding[],
  ): void {
    const fence = event.fence ?? hold.fence;
    if (hold.is('toldOverlap') || fence === undefined || !provesOverlap(event, fence)) return;
    const { latestFence, latestGrantUs } = event;
    const other = this.#findByFence(hold, latestFence);
    const fromUs = latestGrantUs ?? (other?.serverId === serverId ? other?.grantUs : undefined);
    const stranger: Party = {
      owner: undefined,
      fence: latestFence,
      grantUs: latestGrantUs,
      serverId,
      producer: undefined,
      app: undefined,
      instance: undefined,
    };
    findings.push(
      this.#tell(hold, other ? partyOf(other) : stranger, { fromUs, serverId }, event.kind, nowMs),
    );
    this.#measure(hold, nowMs, findings);
  }

  /** Measures what had to wait. */
  tick(nowMs: number, findings: Finding[]): void {
    for (const hold of this.#open) this.#measure(hold, nowMs, findings);
  }

  #comparePair(earlier: Hold, later: Hold, nowMs: number, findings: Finding[]): void {
    if (earlier.is('toldOverlap') || !this.#overlaps(earlier, later)) return;
    const window = { fromUs: later.grantUs, serverId: later.serverId };
    findings.push(this.#tell(earlier, partyOf(later), window, 'reports', nowMs));
  }

  #overlaps(earlier: Hold, later: Hold): boolean {
    const { workedUntilUs, workedServer } = earlier;
    if (later.grantUs === undefined || workedUntilUs === undefined || workedServer !== later.serverId)
      return false;
    const marginUs = later.fence === undefined ? UNFENCED_MARGIN_US : 0;
    return later.grantUs + marginUs < workedUntilUs && this.#isLater(earlier, later);
  }

  /**
   * Whether `later` was granted after `earlier`. By one server's clock, which the fences must not contradict: it may have been
   * set. Across servers the clocks say nothing: then the fences must say so, and the later's server must be new, since a
   * server that was a master before may have granted before.
   */
  #isLater(earlier: Hold, later: Hold): boolean {
    const { serverId, grantUs } = later;
    if (serverId === undefined || earlier.serverId === undefined || grantUs === undefined) return false;
    const fenced = earlier.fence !== undefined && later.fence !== undefined;
    const higher = fenced && (later.fence ?? 0) > (earlier.fence ?? 0);
    if (earlier.serverId !== serverId) return higher && this.#servers.isNewerThan(serverId, earlier.knownMs);
    if (earlier.grantUs === undefined || grantUs <= earlier.grantUs) return false;
    return !fenced || higher;
  }

  #findByFence(hold: Hold, fence: number | undefined): Hold | undefined {
    for (let other = this.#table.youngestOf(hold.lock); other; other = other.older) {
      if (other !== hold && other.fence === fence) return other;
    }
    return undefined;
  }

  #tell(
    hold: Hold,
    other: Party,
    window: { fromUs: number | undefined; serverId: string | undefined },
    provenBy: Overlap['provenBy'],
    nowMs: number,
  ): Overlap {
    hold.mark('toldOverlap');
    hold.open = { ...window, toldMs: nowMs, endedMs: undefined };
    this.#open.add(hold);
    const { lock, resource } = hold;
    const untilUs = isEndKnownOn(hold, window.serverId) ? hold.workedUntilUs : undefined;
    const cause = causeOf(hold, window.fromUs, window.serverId);
    return {
      kind: 'overlap',
      store: this.#store,
      resource,
      lock,
      holder: partyOf(hold),
      other,
      ...window,
      untilUs,
      provenBy,
      cause,
    };
  }

  #measure(hold: Hold, nowMs: number, findings: Finding[]): void {
    const { open } = hold;
    if (!open) return;
    if (hold.state === 'ended') open.endedMs ??= nowMs;
    const since = open.endedMs;
    const overdue = nowMs - open.toldMs > MAX_OPEN_MS || this.#open.size > MAX_OPEN;
    if (since === undefined && !overdue) return;
    const length = this.#lengthOf(hold, since ?? nowMs);
    if (length === undefined || (length.approximate && nowMs - (since ?? nowMs) < WAIT_MS && !overdue)) {
      if (overdue || (since !== undefined && nowMs - since >= WAIT_MS)) this.#close(hold);
      return;
    }
    this.#close(hold);
    const { lock, resource, owner } = hold;
    const cause = causeOf(hold, open.fromUs, open.serverId);
    const untilUs = isEndKnownOn(hold, open.serverId) ? hold.workedUntilUs : undefined;
    const end: OverlapEnd = {
      kind: 'overlap_end',
      store: this.#store,
      resource,
      lock,
      owner,
      other: length.other && partyOf(length.other),
      lengthMs: length.us / 1000,
      approximate: length.approximate,
      untilUs,
      cause,
    };
    findings.push(end);
  }

  #close(hold: Hold): void {
    hold.open = undefined;
    this.#open.delete(hold);
    this.#table.letGo(hold);
  }

  /** Undefined: one end is not known at all. */
  #lengthOf(
    hold: Hold,
    endedMs: number,
  ): { us: number; approximate: boolean; other: Hold | undefined } | undefined {
    const { open, workedUntilUs, workedServer } = hold;
    if (!open || workedUntilUs === undefined || workedServer !== open.serverId) return undefined;
    const other = this.#firstOther(hold, workedUntilUs);
    const fromUs = other?.grantUs ?? open.fromUs;
    if (fromUs === undefined) return undefined;
    const otherEndUs = other && isEndKnownOn(other, open.serverId) ? other.workedUntilUs : undefined;
    const us = Math.max(0, Math.min(workedUntilUs, otherEndUs ?? workedUntilUs) - fromUs);
    const outlasted = other?.state === 'live' && other.producer.builtAfterMs > endedMs + RELEASE_UNDER_WAY_MS;
    const exact = hold.is('endKnown') && other !== undefined && (otherEndUs !== undefined || outlasted);
    return { us, approximate: !exact, other };
  }

  /** The first that was granted the lock while the work went on. */
  #firstOther(hold: Hold, untilUs: number): Hold | undefined {
    let first: Hold | undefined;
    for (let other = this.#table.youngestOf(hold.lock); other; other = other.older) {
      const fits = other !== hold && other.serverId === hold.open?.serverId && this.#isLater(hold, other);
      if (!fits || other.grantUs === undefined || other.grantUs >= untilUs) continue;
      if (first?.grantUs === undefined || other.grantUs < first.grantUs) first = other;
    }
    return first;
  }
}

function isEndKnownOn(hold: Hold, serverId: string | undefined): boolean {
  return hold.is('endKnown') && serverId !== undefined && hold.workedServer === serverId;
}
