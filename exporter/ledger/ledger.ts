import type { Hold as ReportedHold } from '../../contract/batch.js';
import type { LockEvent, LostEvent } from '../../contract/event.js';
import { AwakeTime } from './awake-time.js';
import { causeOf } from './cause.js';
import { EmittedUntil } from './emitted-until.js';
import type { Abandoned, Finding, Loss, Party } from './finding.js';
import { Ghosts } from './ghosts.js';
import { type Hold, partyOf } from './hold.js';
import { HoldReports } from './hold-reports.js';
import { type Evicted, HoldTable, type LedgerLimits } from './hold-table.js';
import { isSilent, mayBeSilent, standingOf } from './key-judge.js';
import { Overlaps } from './overlaps.js';
import type { BatchFacts, HeldKeyLook, KeyStanding, SeenKey } from './ports.js';
import { type Producer, ProducerTable } from './producers.js';
import { ServerHistory } from './server-history.js';
import { isTakenOver } from './taken-over.js';
import { Zombies } from './zombies.js';

/** What a ledger is made with. */
export interface LedgerOptions {
  /** The one store whose locks it keeps. */
  readonly store: string;
  readonly limits?: Partial<LedgerLimits>;
  /** Any 32 bits that clients cannot know; see {@link RowIndex}. */
  readonly seed?: number;
}

/** Holders of one resource. */
export interface HolderCount {
  readonly resource: string;
  /** Holds that a client believes in, the unsure ones included. */
  holders: number;
  /** Those of clients whose full set of holds is not known: after a restart of this process, or a gap. */
  unsure: number;
}

/** How full a ledger is. */
export interface LedgerSize {
  /** Holds that have not ended. */
  readonly holds: number;
  /** Holds that have ended and are kept for late reports. */
  readonly ended: number;
  readonly locks: number;
  readonly producers: number;
  /** Forgotten for want of room, since the start. */
  readonly evicted: Readonly<Evicted>;
}

/**
 * Who believes to hold what, and what follows from it, together with looks at Redis. Pure: no clock, no I/O; times come with
 * the calls. Nothing here throws.
 */
export interface Ledger {
  /** Takes one event, in the order of arrival. */
  applyEvent(event: LockEvent, batch: BatchFacts): readonly Finding[];
  /** Takes a part of a producer's full set of holds; the set replaces what was known once it is `complete`. */
  applyHolds(holds: readonly ReportedHold[], complete: boolean, batch: BatchFacts): readonly Finding[];
  /** A batch has ended: its producer is alive, and what it reported still stands. */
  heartbeat(batch: BatchFacts): readonly Finding[];
  /** Takes one look on the master at all held keys, walking over it more than once. @param nowMonoMs when it was told */
  looked(looks: Iterable<HeldKeyLook>, nowMonoMs: number): readonly Finding[];
  /** Judges one key of a sweep. */
  judgeKey(key: SeenKey, nowMonoMs: number): { standing: KeyStanding; finding: Finding | undefined };
  /** To be called every second: finds what time alone brings, and forgets what is old. */
  tick(nowMonoMs: number): readonly Finding[];
  /** The loss of this hold was told by a sample already. */
  hasToldLoss(owner: string): boolean;
  /** The loss that this event reports, which was applied before, with what is known of its hold. */
  describeLoss(event: LostEvent, batch: BatchFacts): Loss | undefined;
  /** The hold with this owner digest, as a side of a finding. */
  holderOf(owner: string): Party | undefined;
  holders(): readonly HolderCount[];
  size(): LedgerSize;
}

/** About 170 bytes for each hold, its places in the indexes included. */
export const DEFAULT_LEDGER_LIMITS: LedgerLimits = {
  maxHolds: 120_000,
  maxEnded: 30_000,
  maxProducers: 10_000,
};

/** A client that holds nothing and is silent for longer is forgotten. */
const PRODUCER_IDLE_MS = 3_600_000;
/** A silent client's holds are kept for so long beyond their leases, should it come back. */
const KEEP_SILENT_MS = 600_000;

const NOTHING: readonly Finding[] = Object.freeze([]);

/** Makes an empty ledger. */
export function createLedger(options: LedgerOptions): Ledger {
  return new HoldLedger(options);
}

class HoldLedger implements Ledger {
  readonly #store: string;
  readonly #time = new AwakeTime();
  readonly #evicted: Evicted = { holds: 0, ended: 0, producers: 0 };
  readonly #servers = new ServerHistory();
  readonly #table: HoldTable;
  readonly #producers: ProducerTable;
  readonly #overlaps: Overlaps;
  readonly #ghosts: Ghosts;
  readonly #zombies: Zombies;
  readonly #reports: HoldReports;
  /** The batch being taken, with what belongs to it. */
  #batch: BatchFacts | undefined;
  #producer: Producer | undefined;
  readonly #emitted = new EmittedUntil();
  #nowMs = 0;

  constructor({ store, limits, seed = 0 }: LedgerOptions) {
    const all = { ...DEFAULT_LEDGER_LIMITS, ...limits };
    this.#store = store;
    this.#table = new HoldTable(all, this.#evicted, seed);
    this.#producers = new ProducerTable(all.maxProducers, (one, forRoom) => this.#forget(one, forRoom));
    this.#overlaps = new Overlaps(store, this.#table, this.#servers);
    this.#ghosts = new Ghosts(store, this.#table);
    this.#zombies = new Zombies(store, this.#table);
    const [table, overlaps, ghosts] = [this.#table, this.#overlaps, this.#ghosts];
    this.#reports = new HoldReports({ store, table, overlaps, ghosts });
  }

  applyEvent(event: LockEvent, batch: BatchFacts): readonly Finding[] {
    const producer = this.#enter(batch);
    const serverId = event.serverId ?? batch.serverId;
    this.#servers.name(serverId, this.#nowMs);
    this.#emitted.take(event, serverId);
    return this.#reports.take(event, producer, serverId, this.#nowMs);
  }

  applyHolds(holds: readonly ReportedHold[], complete: boolean, batch: BatchFacts): readonly Finding[] {
    const producer = this.#enter(batch);
    if (producer.late) return NOTHING;
    const findings: Finding[] = [];
    if (producer.pendingSet || !complete) this.#emitted.takePart();
    if (!producer.pendingSet) producer.beginSet(this.#table.lastOrder);
    for (const report of holds) {
      const serverId = report.serverId ?? batch.serverId;
      this.#servers.name(serverId, this.#nowMs);
      producer.nameInSet(this.#reports.takeHold(report, producer, serverId, this.#nowMs, findings));
    }
    if (complete) this.#completeSet(producer);
    return findings;
  }

  heartbeat(batch: BatchFacts): readonly Finding[] {
    const producer = this.#enter(batch);
    this.#servers.name(batch.serverId, this.#nowMs);
    if (batch.closing) {
      producer.closed = true;
      producer.forEachHold((hold) => {
        hold.mark('givenUp');
        this.#reports.end(hold);
      });
      return NOTHING;
    }
    if (producer.hasSilent && !producer.late) this.#wakeUp(producer);
    const findings: Finding[] = [];
    this.#ghosts.stillReported(producer, batch.serverId, this.#emitted, findings);
    return findings;
  }

  looked(looks: Iterable<HeldKeyLook>, nowMonoMs: number): readonly Finding[] {
    this.#nowMs = this.#time.advance(nowMonoMs);
    const findings: Finding[] = [];
    for (const look of looks) {
      if (look.serverId !== null) this.#servers.name(look.serverId, this.#nowMs);
      if (look.state === 'gone') continue;
      const { owner, leftMs, serverUs: seenUs } = look;
      const expiresUs = leftMs === null ? null : seenUs + leftMs * 1000;
      const zombie = this.#zombies.see({ owner, leftMs, seenUs, expiresUs }, nowMonoMs);
      if (zombie) findings.push(zombie);
    }
    this.#ghosts.looked(looks, this.#nowMs);
    return findings;
  }

  judgeKey(key: SeenKey, nowMonoMs: number): { standing: KeyStanding; finding: Finding | undefined } {
    this.#nowMs = this.#time.advance(nowMonoMs);
    const finding = this.#zombies.see(key, nowMonoMs);
    return { standing: standingOf(key, this.#table, this.#nowMs), finding };
  }

  tick(nowMonoMs: number): readonly Finding[] {
    this.#nowMs = this.#time.advance(nowMonoMs);
    const findings: Finding[] = [];
    for (const producer of this.#producers.values()) {
      if (producer.holds) this.#lookForSilence(producer, findings);
      else if (this.#nowMs - producer.heardMs > PRODUCER_IDLE_MS) this.#producers.forget(producer);
    }
    this.#overlaps.tick(this.#nowMs, findings);
    this.#table.age(this.#nowMs);
    return findings;
  }

  hasToldLoss(owner: string): boolean {
    return this.#table.find(owner)?.is('toldLoss') ?? false;
  }

  describeLoss(event: LostEvent, batch: BatchFacts): Loss | undefined {
    const hold = this.#table.find(event.owner);
    if (!hold) return undefined;
    const { lock, resource } = hold;
    const { by, sinceGrantMs, leaseMs, loopDelayMs, serverUs } = event;
    const loss = { by, sinceGrantMs, leaseMs, loopDelayMs };
    const askedOf = serverUs === undefined ? undefined : (event.serverId ?? batch.serverId);
    const cause = causeOf(hold, serverUs, askedOf);
    return { kind: 'lost', store: this.#store, resource, lock, holder: partyOf(hold), loss, cause };
  }

  holderOf(owner: string): Party | undefined {
    const hold = this.#table.find(owner);
    return hold && partyOf(hold);
  }

  holders(): readonly HolderCount[] {
    const counts = new Map<string, HolderCount>();
    this.#table.forEachLive((resource, producer) => {
      let count = counts.get(resource);
      if (!count) {
        count = { resource, holders: 0, unsure: 0 };
        counts.set(resource, count);
      }
      count.holders += 1;
      if (!producer.sure) count.unsure += 1;
    });
    return [...counts.values()];
  }

  size(): LedgerSize {
    const { activeCount, endedCount, lockCount } = this.#table;
    const evicted = { ...this.#evicted };
    return {
      holds: activeCount,
      ended: endedCount,
      locks: lockCount,
      producers: this.#producers.size,
      evicted,
    };
  }

  /** The producer of a batch; the first call of a batch tells it that it was heard. */
  #enter(batch: BatchFacts): Producer {
    if (batch === this.#batch && this.#producer) return this.#producer;
    this.#nowMs = this.#time.advance(batch.receivedMonoMs);
    this.#batch = batch;
    this.#emitted.begin();
    this.#producer = this.#producers.meet(batch, this.#nowMs);
    return this.#producer;
  }

  /** What the set does not name has ended without a report. What became known since the set began is younger than it. */
  #completeSet(producer: Producer): void {
    const { pendingSet, pendingOrder } = producer;
    producer.forEachHold((hold) => {
      if (hold.order <= pendingOrder && !pendingSet?.has(hold.order)) this.#reports.end(hold);
    });
    producer.pendingSet = undefined;
    producer.sure = true;
  }

  #wakeUp(producer: Producer): void {
    producer.hasSilent = false;
    producer.forEachHold((hold) => {
      if (hold.state === 'silent') hold.state = 'live';
    });
  }

  #lookForSilence(producer: Producer, findings: Finding[]): void {
    if (!mayBeSilent(producer, this.#nowMs)) return;
    producer.forEachHold((hold) => {
      if (this.#nowMs <= hold.leaseEndMs || !isSilent(hold, this.#nowMs)) return;
      if (this.#nowMs > Math.max(hold.leaseEndMs, producer.heardMs) + KEEP_SILENT_MS) this.#reports.end(hold);
      else if (hold.state === 'live') {
        hold.state = 'silent';
        producer.hasSilent = true;
        if (producer.sure && !hold.is('toldAbandoned')) findings.push(this.#abandon(hold));
      } else if (
        producer.sure &&
        hold.state === 'silent' &&
        !hold.is('toldTakenOver') &&
        this.#isTakenOver(hold)
      ) {
        findings.push(this.#abandon(hold));
      }
    });
  }

  #abandon(hold: Hold): Abandoned {
    hold.mark('toldAbandoned');
    const { lock, resource } = hold;
    const takenOver = this.#isTakenOver(hold);
    if (takenOver) hold.mark('toldTakenOver');
    return { kind: 'abandoned', store: this.#store, resource, lock, holder: partyOf(hold), takenOver };
  }

  #isTakenOver(hold: Hold): boolean {
    return isTakenOver(hold, hold.history && this.#table.youngestOf(hold.lock));
  }

  #forget(producer: Producer, forRoom: boolean): void {
    if (forRoom) this.#evicted.producers += 1;
    producer.forEachHold((hold) => this.#reports.end(hold));
    this.#ghosts.forget(producer);
  }
}
