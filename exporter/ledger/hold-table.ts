import { highWord, lowWord } from './digest-words.js';
import { EndedHolds } from './ended-holds.js';
import type { Hold } from './hold.js';
import type { HoldFacts } from './hold-facts.js';
import { HoldRows } from './hold-rows.js';
import { LockHistory } from './lock-history.js';
import { Outlived } from './outlived.js';
import type { Others } from './overlap-window.js';
import type { Producer } from './producers.js';
import { RowIndex } from './row-index.js';
import { SharedTexts } from './shared-texts.js';

/** What bounds a ledger. The oldest is forgotten first. */
export interface LedgerLimits {
  /** Most holds that have not ended. */
  readonly maxHolds: number;
  /** Most holds that have ended, and are kept for reports that come late. */
  readonly maxEnded: number;
  readonly maxProducers: number;
}

/** Forgotten for want of room, by table. */
export interface Evicted {
  holds: number;
  ended: number;
  producers: number;
}

/** Holds of one lock that are remembered side by side, those that have ended included. */
export const HOLDS_PER_LOCK = 12;
/** A table may exceed its limit by this share before it is cut back to it. */
const EVICT_SHARE = 1 / 16;
/** An ended hold is remembered for so long beyond its lease, room permitting: late reports and samples refer to it. */
const KEEP_ENDED_MS = 600_000;

/**
 * All holds, by owner and by lock. Each stands in the list of its lock, and either in its producer's or in that of the ended.
 * One index by owner, and links for all else: moving each hold from one map to another took 0.5 µs for an event.
 */
export class HoldTable {
  readonly #limits: LedgerLimits;
  readonly #rows = new HoldRows();
  readonly #byOwner: RowIndex;
  /** The youngest of each lock. */
  readonly #byLock: RowIndex;
  readonly #ended = new EndedHolds();
  readonly #texts = new SharedTexts();
  readonly #outlived = new Outlived();
  readonly #evicted: Evicted;
  #order = 0;

  /** @param seed of the indexes; see {@link RowIndex} */
  constructor(limits: LedgerLimits, evicted: Evicted, seed: number) {
    this.#limits = limits;
    this.#evicted = evicted;
    this.#byOwner = new RowIndex(this.#rows.wordsOf('owner'), seed);
    this.#byLock = new RowIndex(this.#rows.wordsOf('lock'), seed);
  }

  /** Holds that have not ended. */
  get activeCount(): number {
    return this.#byOwner.size - this.#ended.size;
  }

  get endedCount(): number {
    return this.#ended.size;
  }

  get lockCount(): number {
    return this.#byLock.size;
  }

  /** Order of the youngest hold. */
  get lastOrder(): number {
    return this.#order;
  }

  /** Calls `visit` for each hold that a client believes in, in no order. */
  forEachLive(visit: (resource: string, producer: Producer) => void): void {
    this.#rows.forEachLive(visit);
  }

  find(owner: string): Hold | undefined {
    return this.#holdIn(this.#byOwner.find(highWord(owner), lowWord(owner)));
  }

  /** The youngest hold of a lock; the others follow by `older`. */
  youngestOf(lock: string): Hold | undefined {
    return this.#holdIn(this.#byLock.find(highWord(lock), lowWord(lock)));
  }

  /** Later holds of its lock that were forgotten while this one had not ended. */
  outlivedBy(hold: Hold): Others {
    return this.#outlived.of(hold);
  }

  /** Adds a hold, as active. */
  add(facts: HoldFacts, producer: Producer, nowMs: number): Hold {
    this.#order += 1;
    const youngest = this.youngestOf(facts.lock);
    const hold = this.#rows.take();
    hold.begin(facts, producer, nowMs, this.#order);
    // Each report brings texts of its own.
    const isSame = facts.resource === youngest?.resource;
    hold.resource = isSame ? youngest.resource : this.#texts.share(facts.resource);
    this.#byLock.set(hold.row);
    this.#byOwner.set(hold.row);
    producer.link(hold);
    if (youngest) this.#linkToLock(hold, youngest);
    this.#evictActive();
    return hold;
  }

  /** The hold has ended. It is remembered, as the youngest of the ended. */
  end(hold: Hold): void {
    hold.state = 'ended';
    if (hold.place !== 'active' && hold.place !== 'ended') return;
    this.#takeFromList(hold);
    hold.place = 'ended';
    this.#ended.add(hold);
    const { maxEnded } = this.#limits;
    if (this.#ended.size > withShare(maxEnded)) this.#evictEnded(maxEnded);
  }

  /** An ended hold is reported again as held. */
  revive(hold: Hold, producer: Producer): void {
    if (hold.place !== 'ended') return;
    this.#takeFromList(hold);
    hold.place = 'active';
    hold.producer = producer;
    producer.link(hold);
    this.#evictActive();
  }

  /** Nothing but its list refers to the hold any more, if it stands in one. */
  letGo(hold: Hold): void {
    this.#rows.giveBack(hold);
  }

  /** Forgets what ended long ago, the first that ended first. One with a long lease is passed over. */
  age(nowMs: number): void {
    let next: Hold | undefined;
    for (let hold = this.#ended.first; hold; hold = next) {
      next = hold.next;
      if (Math.max(hold.leaseEndMs, hold.knownMs) + KEEP_ENDED_MS < nowMs) this.#forget(hold);
      else if (hold.leaseEndMs <= nowMs) return;
    }
  }

  #evictEnded(limit: number): void {
    for (let hold = this.#ended.first; hold && this.#ended.size > limit; hold = this.#ended.first) {
      this.#forget(hold);
      this.#evicted.ended += 1;
    }
  }

  /** Those that became known first. Many at a time: finding them walks over all. */
  #evictActive(): void {
    const { maxHolds } = this.#limits;
    if (this.activeCount <= withShare(maxHolds)) return;
    const active: Hold[] = [];
    this.#rows.forEach((hold) => {
      if (hold.place === 'active') active.push(hold);
    });
    active.sort((one, other) => one.order - other.order);
    for (const hold of active.slice(0, active.length - maxHolds)) {
      this.#forget(hold);
      this.#evicted.holds += 1;
    }
  }

  #forget(hold: Hold): void {
    this.#outlived.forget(hold);
    this.#takeFromList(hold);
    hold.place = 'forgotten';
    this.#byOwner.deleteRow(hold.row);
    this.#unlinkFromLock(hold);
    this.#rows.giveBack(hold);
  }

  #holdIn(row: number | undefined): Hold | undefined {
    return row === undefined ? undefined : this.#rows.at(row);
  }

  #takeFromList(hold: Hold): void {
    if (hold.place === 'active') hold.producer.unlink(hold);
    else this.#ended.remove(hold);
  }

  #linkToLock(hold: Hold, youngest: Hold): void {
    youngest.history ??= new LockHistory(youngest);
    const { history } = youngest;
    hold.history = history;
    hold.older = youngest;
    youngest.younger = hold;
    history.count += 1;
    if (history.count > HOLDS_PER_LOCK) this.#trimLock(history, hold);
  }

  /** Of too many holds of one lock the oldest ended one goes; it is what a busy lock forgets all the time, and not counted. */
  #trimLock({ oldest }: LockHistory, youngest: Hold): void {
    let victim: Hold | undefined = oldest;
    while (victim && victim.state !== 'ended') victim = victim.younger;
    if (victim === undefined || victim.row === youngest.row) victim = oldest;
    if (victim.state !== 'ended') this.#evicted.holds += 1;
    for (let hold: Hold | undefined = oldest; hold && hold.row !== victim.row; hold = hold.younger)
      this.#outlived.note(hold, victim);
    this.#forget(victim);
  }

  #unlinkFromLock(hold: Hold): void {
    const { older, younger, history } = hold;
    if (younger) younger.older = older;
    else if (older) this.#byLock.set(older.row);
    else this.#byLock.deleteRow(hold.row);
    if (older) older.younger = younger;
    else if (history && younger) history.oldest = younger;
    history?.left(hold);
    hold.older = undefined;
    hold.younger = undefined;
    hold.history = undefined;
  }
}

function withShare(limit: number): number {
  return limit + Math.floor(limit * EVICT_SHARE);
}
