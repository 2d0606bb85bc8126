import { EndedHolds } from './ended-holds.js';
import type { Hold, HoldFacts } from './hold.js';
import { HoldPool } from './hold-pool.js';
import { LockHistory } from './lock-history.js';
import { Outlived } from './outlived.js';
import type { Others } from './overlap-window.js';
import type { Producer } from './producers.js';
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
 * One map by owner, and links for all else: moving each hold from one map to another took 0.5 µs for an event.
 */
export class HoldTable {
  readonly #limits: LedgerLimits;
  readonly #byOwner = new Map<string, Hold>();
  /** The youngest of each lock. */
  readonly #byLock = new Map<string, Hold>();
  readonly #ended = new EndedHolds();
  readonly #pool = new HoldPool();
  readonly #texts = new SharedTexts();
  readonly #outlived = new Outlived();
  readonly #evicted: Evicted;
  #order = 0;

  constructor(limits: LedgerLimits, evicted: Evicted) {
    this.#limits = limits;
    this.#evicted = evicted;
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

  /** All holds, in the order in which they became known, or were reported again after they had ended. */
  values(): Iterable<Hold> {
    return this.#byOwner.values();
  }

  find(owner: string): Hold | undefined {
    return this.#byOwner.get(owner);
  }

  /** The youngest hold of a lock; the others follow by `older`. */
  youngestOf(lock: string): Hold | undefined {
    return this.#byLock.get(lock);
  }

  /** Later holds of its lock that were forgotten while this one had not ended. */
  outlivedBy(hold: Hold): Others {
    return this.#outlived.of(hold);
  }

  /** Adds a hold, as active. */
  add(facts: HoldFacts, producer: Producer, nowMs: number): Hold {
    this.#order += 1;
    const youngest = this.#byLock.get(facts.lock);
    const hold = this.#pool.take(producer);
    hold.begin(facts, producer, nowMs, this.#order);
    if (youngest) shareTexts(hold, youngest);
    else hold.resource = this.#texts.share(hold.resource);
    this.#byLock.set(hold.lock, hold);
    this.#byOwner.set(hold.owner, hold);
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
    this.#byOwner.delete(hold.owner);
    this.#byOwner.set(hold.owner, hold);
    hold.producer = producer;
    producer.link(hold);
    this.#evictActive();
  }

  /** Nothing but its list refers to the hold any more, if it stands in one. */
  letGo(hold: Hold): void {
    this.#pool.giveBack(hold);
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

  /** Many at a time: finding the oldest walks over all that have ended. */
  #evictActive(): void {
    const { maxHolds } = this.#limits;
    if (this.activeCount <= withShare(maxHolds)) return;
    for (const hold of this.#byOwner.values()) {
      if (this.activeCount <= maxHolds) return;
      if (hold.place !== 'active') continue;
      this.#forget(hold);
      this.#evicted.holds += 1;
    }
  }

  #forget(hold: Hold): void {
    this.#outlived.forget(hold);
    this.#takeFromList(hold);
    hold.place = 'forgotten';
    this.#byOwner.delete(hold.owner);
    this.#unlinkFromLock(hold);
    this.#pool.giveBack(hold);
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
    if (victim === undefined || victim === youngest) victim = oldest;
    if (victim.state !== 'ended') this.#evicted.holds += 1;
    for (let hold: Hold | undefined = oldest; hold && hold !== victim; hold = hold.younger)
      this.#outlived.note(hold, victim);
    this.#forget(victim);
  }

  #unlinkFromLock(hold: Hold): void {
    const { older, younger, history } = hold;
    if (younger) younger.older = older;
    else if (older) this.#byLock.set(hold.lock, older);
    else this.#byLock.delete(hold.lock);
    if (older) older.younger = younger;
    else if (history && younger) history.oldest = younger;
    history?.left(hold);
    hold.older = undefined;
    hold.younger = undefined;
    hold.history = undefined;
  }
}

/** Each report brings texts of its own. */
function shareTexts(hold: Hold, other: Hold): void {
  hold.lock = other.lock;
  if (hold.resource === other.resource) hold.resource = other.resource;
}

function withShare(limit: number): number {
  return limit + Math.floor(limit * EVICT_SHARE);
}
