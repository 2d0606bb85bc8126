import { causeOf } from './cause.js';
import type { Finding, Overlap, OverlapEnd, Party, SuspectWindow } from './finding.js';
import { type Hold, partyOf } from './hold.js';
import { HOLDS_PER_LOCK, type HoldTable } from './hold-table.js';
import { type NotOwnedEvent, provesOverlap } from './not-owned.js';
import { listOthers } from './overlap-window.js';
import type { ServerHistory } from './server-history.js';

/** A grant told again by Redis without its time is worked out from whole milliseconds. */
const UNFENCED_MARGIN_US = 2000;
/** Reports of others that are on their way when the work has settled: eight times what a client waits to fill a batch. */
const REPORTS_MS = 2000;
/** The first other's report is waited for so long before the length is called approximate. */
const WAIT_MS = 30_000;
/** Overlaps whose length is not known yet; the oldest is closed for a further one. */
const MAX_OPEN = 2000;
const MAX_OPEN_MS = 3_600_000;

/** Finds overlaps and measures them. */
export class Overlaps {
  readonly #store: string;
  readonly #table: HoldTable;
  readonly #servers: ServerHistory;
  readonly #open = new Map<number, Hold>();

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
      if (other.row !== hold.row && !isFront) {
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
    if (fence === undefined || !provesOverlap(event, fence)) return;
    const { latestFence, latestGrantUs } = event;
    const known = this.#findByFence(hold, latestFence, latestGrantUs);
    const grantUs = latestGrantUs ?? (known?.serverId === serverId ? known?.grantUs : undefined);
    const other = known ? partyOf(known) : strangerOf(latestFence, latestGrantUs, serverId);
    if (hold.is('toldOverlap')) this.#tellMore(hold, [other], findings);
    else findings.push(this.#tell(hold, { other, grantUs }, serverId, event.kind, nowMs));
    if (serverId === undefined) this.#boundByAnswer(hold, event, findings);
    this.#measure(hold, nowMs, findings);
  }

  /**
   * Where no server is named, two times may be two servers', unless one answer told both: the release that knows when its work
   * settled and when the latest other was granted. The window is from one to the other then, and approximate.
   */
  #boundByAnswer(hold: Hold, event: NotOwnedEvent, findings: Finding[]): void {
    const { open, owner } = hold;
    if (!open || event.kind !== 'release') return;
    const { latestGrantUs: fromUs, settledUs: untilUs } = event;
    if (fromUs === undefined || untilUs === undefined || open.window.serverId !== undefined) return;
    open.window = { ...open.window, fromUs, untilUs };
    const [other] = open.window.others;
    findings.push({ kind: 'overlap_other', ...this.#about(hold, open.window), owner, other, ...open.window });
  }

  /** Measures what had to wait. */
  tick(nowMs: number, findings: Finding[]): void {
    for (const hold of this.#open.values()) this.#measure(hold, nowMs, findings);
  }

  #comparePair(earlier: Hold, later: Hold, nowMs: number, findings: Finding[]): void {
    const { workedUntilUs, workedServer } = earlier;
    if (workedUntilUs === undefined || workedServer === undefined) return;
    if (!this.#isGrantedIn(earlier, later, workedUntilUs, workedServer)) return;
    if (earlier.is('toldOverlap')) this.#tellMore(earlier, [partyOf(later)], findings);
    else {
      const proven = { other: partyOf(later), grantUs: later.grantUs };
      findings.push(this.#tell(earlier, proven, workedServer, 'reports', nowMs));
    }
  }

  /** Whether `later` was granted after `earlier` and before this time of that server. */
  #isGrantedIn(earlier: Hold, later: Hold, untilUs: number, serverId: string): boolean {
    if (later.row === earlier.row || later.grantUs === undefined || later.serverId !== serverId) return false;
    const marginUs = later.fence === undefined ? UNFENCED_MARGIN_US : 0;
    return later.grantUs + marginUs < untilUs && this.#isLater(earlier, later);
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

  #endByAnswer(hold: Hold, window: SuspectWindow): OverlapEnd | undefined {
    const { fromUs, untilUs, others } = window;
    if (fromUs === undefined || untilUs === undefined) return undefined;
    const [about, lengthMs] = [this.#about(hold, window), (untilUs - fromUs) / 1000];
    const { owner } = hold;
    return { kind: 'overlap_end', ...about, owner, other: others[0], ...window, lengthMs, approximate: true };
  }

  /**
   * Whether the first other that is known may not be the first that reported: one before it cannot be told from one before the
   * hold itself, whose grant is not known, or was by another server.
   */
  #mayBeginEarlier(hold: Hold, serverId: string | undefined, fromUs: number): boolean {
    if (hold.grantUs === undefined) return true;
    if (hold.serverId === serverId) return false;
    let count = 0;
    for (let other = this.#table.youngestOf(hold.lock); other; other = other.older) {
      count += 1;
      const isOfServer = other.row !== hold.row && other.serverId === serverId;
      if (isOfServer && (other.grantUs ?? fromUs) < fromUs) return true;
    }
    return count >= HOLDS_PER_LOCK;
  }

  /** Who an answer knew by the fence only may have reported since. */
  #identify(hold: Hold, party: Party): Party {
    const { owner, fence, grantUs } = party;
    const known = owner === undefined ? this.#findByFence(hold, fence, grantUs) : undefined;
    return known ? partyOf(known) : party;
  }

  /**
   * The hold with this fence that was granted then. A library that counts its fences begins anew when the counter is lost: then
   * several have the same.
   */
  #findByFence(hold: Hold, fence: number | undefined, grantUs: number | undefined): Hold | undefined {
    let undated: Hold | undefined;
    for (let other = this.#table.youngestOf(hold.lock); other; other = other.older) {
      if (other.row === hold.row || other.fence !== fence || isGrantedBefore(other, hold)) continue;
      if (grantUs !== undefined && other.grantUs === undefined) undated ??= other;
      else if (Math.abs((other.grantUs ?? 0) - (grantUs ?? other.grantUs ?? 0)) <= UNFENCED_MARGIN_US)
        return other;
    }
    return undated;
  }

  #tell(
    hold: Hold,
    proven: { readonly other: Party; readonly grantUs: number | undefined },
    serverId: string | undefined,
    provenBy: Overlap['provenBy'],
    nowMs: number,
  ): Overlap {
    const window = this.#windowOf(hold, serverId, [proven.other], proven.grantUs);
    hold.mark('toldOverlap');
    hold.open = { window, toldMs: nowMs, endedMs: undefined };
    this.#open.set(hold.row, hold);
    const [other = proven.other] = window.others;
    const { cause, ...about } = this.#about(hold, window);
    return { kind: 'overlap', ...about, holder: partyOf(hold), other, ...window, provenBy, cause };
  }

  /** Tells of further others and of the window's end, where they were not told. */
  #tellMore(hold: Hold, others: readonly Party[], findings: Finding[]): void {
    const { open, owner } = hold;
    const told = open?.window;
    const serverId = told ? told.serverId : hold.workedServer;
    const known = this.#windowOf(hold, serverId, [...(told?.others ?? []), ...others], told?.fromUs);
    // Without a server's name, the span of one answer stays.
    const isBound = serverId === undefined && told?.untilUs !== undefined;
    const window = isBound ? { ...known, fromUs: told.fromUs, untilUs: told.untilUs } : known;
    if (told && !tellsMore(window, told)) return;
    if (open) open.window = window;
    const [other] = window.others;
    findings.push({ kind: 'overlap_other', ...this.#about(hold, window), owner, other, ...window });
  }

  #about(hold: Hold, { fromUs, serverId }: SuspectWindow) {
    const { lock, resource } = hold;
    return { store: this.#store, resource, lock, cause: causeOf(hold, fromUs, serverId) };
  }

  /** The window as far as it is known now. @param told others that are known without it. @param grantUs of one of them */
  #windowOf(
    hold: Hold,
    serverId: string | undefined,
    told: readonly Party[],
    grantUs: number | undefined,
  ): SuspectWindow {
    const untilUs = isEndKnownOn(hold, serverId) ? hold.workedUntilUs : undefined;
    const workedUs = hold.workedServer === serverId ? hold.workedUntilUs : undefined;
    // The work was on when the last of those was granted, at least.
    const boundUs = workedUs ?? Math.max(...told.map((one) => grantOn(one, serverId) ?? 0), grantUs ?? 0);
    const outlived = this.#table.outlivedBy(hold);
    const known = [
      ...outlived.others.filter((one) => (grantOn(one, serverId) ?? boundUs) < boundUs),
      ...this.#laterOf(hold, serverId, boundUs),
      ...told.map((one) => this.#identify(hold, one)),
    ];
    const { others, moreOthers } = listOthers(known, outlived.moreOthers);
    const grants = [grantUs, ...others.map((one) => grantOn(one, serverId))].filter((us) => us !== undefined);
    const fromUs = grants.length === 0 ? undefined : Math.min(...grants);
    return { serverId, fromUs, untilUs, others, moreOthers };
  }

  /** Holds of its lock that were granted while the work of `hold` went on, by one server's clock. */
  #laterOf(hold: Hold, serverId: string | undefined, untilUs: number): Party[] {
    const parties: Party[] = [];
    if (serverId === undefined) return parties;
    for (let other = this.#table.youngestOf(hold.lock); other; other = other.older) {
      if (this.#isGrantedIn(hold, other, untilUs, serverId)) parties.push(partyOf(other));
    }
    return parties;
  }

  #measure(hold: Hold, nowMs: number, findings: Finding[]): void {
    const { open } = hold;
    if (!open) return;
    if (hold.state === 'ended') open.endedMs ??= nowMs;
    const overdue = nowMs - open.toldMs > MAX_OPEN_MS || this.#open.size > MAX_OPEN;
    if (open.endedMs === undefined && !overdue) return;
    const waitedMs = nowMs - (open.endedMs ?? nowMs);
    if (!overdue && waitedMs < REPORTS_MS) return;
    const end = this.#endOf(hold, open.window);
    if (!overdue && waitedMs < WAIT_MS && end?.approximate !== false) return;
    this.#close(hold);
    if (end) findings.push(end);
  }

  #close(hold: Hold): void {
    hold.open = undefined;
    this.#open.delete(hold.row);
    this.#table.letGo(hold);
  }

  /** Undefined: one end is not known at all. */
  #endOf(hold: Hold, told: SuspectWindow): OverlapEnd | undefined {
    const { workedUntilUs, workedServer, owner } = hold;
    const window = this.#windowOf(hold, told.serverId, told.others, told.fromUs);
    const { serverId, fromUs, untilUs, others } = window;
    if (serverId === undefined) return this.#endByAnswer(hold, told);
    if (workedUntilUs === undefined || workedServer !== serverId || fromUs === undefined) return undefined;
    const [other] = others;
    const lengthMs = Math.max(0, workedUntilUs - fromUs) / 1000;
    const isReported = other?.owner !== undefined && grantOn(other, serverId) === fromUs;
    const approximate = untilUs === undefined || !isReported || this.#mayBeginEarlier(hold, serverId, fromUs);
    return {
      kind: 'overlap_end',
      ...this.#about(hold, window),
      owner,
      other,
      ...window,
      lengthMs,
      approximate,
    };
  }
}

function strangerOf(
  fence: number | undefined,
  grantUs: number | undefined,
  serverId: string | undefined,
): Party {
  const nobody = { owner: undefined, producer: undefined, app: undefined, instance: undefined };
  return { ...nobody, fence, grantUs, serverId };
}

function grantOn({ grantUs, serverId }: Party, server: string | undefined): number | undefined {
  return serverId === server ? grantUs : undefined;
}

/** By one server's clock. */
function isGrantedBefore(one: Hold, hold: Hold): boolean {
  if (one.serverId !== hold.serverId || one.grantUs === undefined || hold.grantUs === undefined) return false;
  return one.grantUs <= hold.grantUs;
}

/** Another span, further others, or the owner of one that was known by its fence only. */
function tellsMore(window: SuspectWindow, told: SuspectWindow): boolean {
  const isSameSpan = window.fromUs === told.fromUs && window.untilUs === told.untilUs;
  return !isSameSpan || countOf(window) > countOf(told) || namedOf(window) > namedOf(told);
}

function countOf({ others, moreOthers }: SuspectWindow): number {
  return others.length + moreOthers;
}

function namedOf({ others }: SuspectWindow): number {
  return others.filter(({ owner }) => owner !== undefined).length;
}

function isEndKnownOn(hold: Hold, serverId: string | undefined): boolean {
  return hold.is('endKnown') && serverId !== undefined && hold.workedServer === serverId;
}
