import type { LockEvent } from '../../contract/event.js';
import type { Finding } from './finding.js';
import type { BatchFacts } from './ports.js';

/** One thing that happened to a lock, in the words of the event contract. */
export interface TimelineEntry {
  readonly kind: LockEvent['kind'] | Finding['kind'];
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

/** About 300 bytes for each entry. */
export const DEFAULT_TIMELINE_LIMITS: TimelineLimits = { perLock: 128, total: 20_000 };

/** The recent history of each lock, bounded per lock and in total. Pure. */
export class Timelines {
  readonly #limits: TimelineLimits;
  readonly #byLock = new Map<string, LockLog>();
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

  /** Notes an event. Its key, should it carry one, is not kept. */
  note(event: LockEvent, batch: BatchFacts): void {
    this.#add(event.lock, entryOfEvent(event, batch));
  }

  /** Notes what was found, at this exporter's wall time. */
  noteFinding(finding: Finding, wallMs: number): void {
    this.#add(finding.lock, entryOfFinding(finding, wallMs));
  }

  /** Entries of a lock in the order of their arrival, the oldest first; none when nothing is known. */
  read(lock: string): readonly TimelineEntry[] {
    return this.#byLock.get(lock)?.read() ?? [];
  }

  #add(lock: string, entry: TimelineEntry): void {
    this.#notes += 1;
    let log = this.#byLock.get(lock);
    if (!log) {
      log = new LockLog(this.#notes);
      this.#byLock.set(lock, log);
    } else if (this.#notes - log.touched > this.#limits.total / 8) {
      // Moved to the young end now and then only: each move costs as much as the entry.
      this.#byLock.delete(lock);
      this.#byLock.set(lock, log);
      log.touched = this.#notes;
    }
    this.#total += log.add(entry, this.#limits.perLock);
    this.#evict();
  }

  /** Many at a time: finding the oldest of a map walks over all that was deleted before it. */
  #evict(): void {
    const { total } = this.#limits;
    if (this.#total <= total + Math.floor(total / 16)) return;
    for (const [lock, log] of this.#byLock) {
      if (this.#total <= total) return;
      this.#byLock.delete(lock);
      this.#total -= log.size;
      this.#evicted += log.size;
    }
  }
}

/** A ring that grows up to its bound. */
class LockLog {
  touched: number;
  readonly #entries: TimelineEntry[] = [];
  #oldest = 0;

  constructor(touched: number) {
    this.touched = touched;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Returns how many entries there are more than before. */
  add(entry: TimelineEntry, limit: number): number {
    if (this.#entries.length < limit) {
      this.#entries.push(entry);
      return 1;
    }
    this.#entries[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % limit;
    return 0;
  }

  read(): TimelineEntry[] {
    return [...this.#entries.slice(this.#oldest), ...this.#entries.slice(0, this.#oldest)];
  }
}

/** Every entry has the same fields in the same order, which keeps it small. */
function entryOfEvent(event: LockEvent, batch: BatchFacts): TimelineEntry {
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
    producer: batch.producer,
    app: batch.app,
    instance: batch.instance,
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

function entryOfFinding(finding: Finding, wallMs: number): TimelineEntry {
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
    producer: holder?.producer,
    app: holder?.app,
    instance: holder?.instance,
  };
}

function startOf(finding: Finding): number | undefined {
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
