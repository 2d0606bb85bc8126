import type { LockEvent } from '../../contract/event.js';
import { type EntryFacts, type EntryList, type EntrySource, EntryStore } from './entry-store.js';
import type { Finding, OverlapEnd, OverlapOther } from './finding.js';
import type { BatchFacts } from './ports.js';

/** One thing that happened to a lock, in the words of the event contract. */
export interface TimelineEntry {
  readonly kind: LockEvent['kind'] | Exclude<Finding['kind'], 'overlap_other'>;
  readonly outcome: string | undefined;
  readonly reason: string | undefined;
  /** Redis's clock when it answered, of `serverId`; the only time to order by, within one server. */
  readonly serverUs: number | undefined;
  readonly serverId: string | undefined;
  /** Wall time by the client's clock, or by this exporter's for what it found itself. */
  readonly atMs: number;
  readonly owner: string | undefined;
  readonly fence: number | undefined;
  readonly latestFence: number | undefined;
  readonly latestGrantUs: number | undefined;
  /** Redis's clock when the work settled, or when an overlap ended. */
  readonly settledUs: number | undefined;
  readonly leaseMs: number | undefined;
  /** Of an acquire: how long it waited. Of what comes later: since the grant. Of an overlap's end: its length. */
  readonly spanMs: number | undefined;
  readonly attempts: number | undefined;
  readonly loopDelayMs: number | undefined;
  readonly producer: string | undefined;
  readonly app: string | undefined;
  readonly instance: string | undefined;
}

/** What bounds the timelines. */
export interface TimelineLimits {
  /** Entries of one lock; the oldest goes first. */
  readonly perLock: number;
  /** Entries of all locks; the lock that nothing happened to for the longest time goes first, as a whole. */
  readonly total: number;
}

/** About 130 bytes for each entry. */
export const DEFAULT_TIMELINE_LIMITS: TimelineLimits = { perLock: 128, total: 20_000 };

/** The entries of one lock. */
interface LockLog extends EntryList {
  /** Number of the note at which it was last moved to the young end. */
  touched: number;
}

/** The recent history of each lock, bounded per lock and in total. Pure. */
export class Timelines {
  readonly #limits: TimelineLimits;
  readonly #byLock = new Map<string, LockLog>();
  readonly #store = new EntryStore();
  #total = 0;
  #evicted = 0;
  #notes = 0;

  constructor(limits: TimelineLimits = DEFAULT_TIMELINE_LIMITS) {
    this.#limits = limits;
  }

  /** Entries that went for want of room in total, since the start. Those beyond a lock's own bound are not counted. */
  get evicted(): number {
    return this.#evicted;
  }

  get size(): number {
    return this.#total;
  }

  /** Notes an event. Its key, should it carry one, is not kept. @param batch kept as the source of all its events */
  note(event: LockEvent, batch: BatchFacts): void {
    this.#add(event.lock, factsOfEvent(event, batch), batch);
  }

  /**
   * Notes what was found, at this exporter's wall time. What tells more of an overlap moves its entry to the time at which it
   * began, and is no entry of its own unless it is the end.
   */
  noteFinding(finding: Finding, wallMs: number): void {
    if (finding.kind === 'overlap_other' || finding.kind === 'overlap_end') this.#moveOverlap(finding);
    if (finding.kind === 'overlap_other') return;
    this.#add(finding.lock, factsOfFinding(finding, wallMs), sourceOfFinding(finding));
  }

  /** Entries of a lock in the order of their arrival, the oldest first; none when nothing is known. */
  read(lock: string): readonly TimelineEntry[] {
    const log = this.#byLock.get(lock);
    return log ? this.#store.read(log) : [];
  }

  #add(lock: string, facts: EntryFacts, source: EntrySource): void {
    this.#notes += 1;
    const log = this.#touch(lock);
    if (log.size >= this.#limits.perLock) this.#drop(log);
    this.#store.add(log, facts, source);
    this.#total += 1;
    this.#evict();
  }

  #moveOverlap({ lock, owner, fromUs, other }: OverlapOther | OverlapEnd): void {
    const log = this.#byLock.get(lock);
    if (log && fromUs !== undefined) this.#store.moveFinding(log, 'overlap', owner, fromUs, other);
  }

  #touch(lock: string): LockLog {
    let log = this.#byLock.get(lock);
    if (!log) {
      log = { touched: this.#notes, oldest: 0, newest: 0, size: 0 };
      this.#byLock.set(lock, log);
    } else if (this.#notes - log.touched > this.#limits.total / 8) {
      // Moved to the young end now and then only: each move costs as much as the entry.
      this.#byLock.delete(lock);
      this.#byLock.set(lock, log);
      log.touched = this.#notes;
    }
    return log;
  }

  #drop(log: LockLog): void {
    this.#store.dropOldest(log);
    this.#total -= 1;
  }

  /** Many at a time: finding the oldest of a map walks over all that was deleted before it. */
  #evict(): void {
    const { total } = this.#limits;
    if (this.#total <= total + Math.floor(total / 16)) return;
    for (const [lock, log] of this.#byLock) {
      if (this.#total <= total) return;
      this.#byLock.delete(lock);
      this.#evicted += log.size;
      while (log.size > 0) this.#drop(log);
    }
  }
}

function factsOfEvent(event: LockEvent, batch: BatchFacts): EntryFacts {
  const details: Details = event;
  return {
    kind: event.kind,
    outcome: details.outcome ?? details.by,
    reason: details.reason,
    serverUs: event.serverUs,
    serverId: event.serverId ?? batch.serverId,
    atMs: event.atMs,
    owner: details.owner,
    fence: details.fence,
    latestFence: details.latestFence,
    latestGrantUs: details.latestGrantUs,
    settledUs: details.settledUs,
    leaseMs: details.leaseMs,
    spanMs: details.waitMs ?? details.holdMs ?? details.sinceGrantMs,
    attempts: details.attempts,
    loopDelayMs: details.loopDelayMs,
  };
}

/** The fields that only some kinds have. */
interface Details {
  readonly outcome?: string;
  readonly by?: string;
  readonly reason?: string | undefined;
  readonly owner?: string | undefined;
  readonly fence?: number | undefined;
  readonly latestFence?: number | undefined;
  readonly latestGrantUs?: number | undefined;
  readonly settledUs?: number | undefined;
  readonly leaseMs?: number;
  readonly waitMs?: number;
  readonly holdMs?: number;
  readonly sinceGrantMs?: number;
  readonly attempts?: number;
  readonly loopDelayMs?: number;
}

type NotedFinding = Exclude<Finding, OverlapOther>;

function sourceOfFinding(finding: NotedFinding): EntrySource {
  const { producer, app, instance } = ('holder' in finding ? finding.holder : undefined) ?? {};
  return { producer, app, instance };
}

function factsOfFinding(finding: NotedFinding, wallMs: number): EntryFacts {
  const holder = 'holder' in finding ? finding.holder : undefined;
  const other = 'other' in finding ? finding.other : undefined;
  return {
    kind: finding.kind,
    outcome: 'cause' in finding ? finding.cause : undefined,
    reason: finding.kind === 'overlap_end' && finding.approximate ? 'approximate' : undefined,
    serverUs: startOf(finding),
    serverId: 'serverId' in finding ? finding.serverId : holder?.serverId,
    atMs: wallMs,
    owner: holder?.owner ?? ('owner' in finding ? finding.owner : undefined),
    fence: holder?.fence,
    latestFence: other?.fence,
    latestGrantUs: other?.grantUs,
    settledUs: 'untilUs' in finding ? finding.untilUs : undefined,
    leaseMs: undefined,
    spanMs: finding.kind === 'overlap_end' ? finding.lengthMs : undefined,
    attempts: undefined,
    loopDelayMs: undefined,
  };
}

function startOf(finding: NotedFinding): number | undefined {
  switch (finding.kind) {
    case 'overlap':
      return finding.fromUs;
    case 'ghost_holder':
      return finding.seenUs;
    case 'fence_regression':
      return finding.holder.grantUs;
    case 'overlap_end':
    case 'zombie_renewal':
    case 'abandoned':
      return undefined;
    default:
      return finding satisfies never;
  }
}
