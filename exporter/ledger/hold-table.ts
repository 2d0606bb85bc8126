import { Hold } from './hold.js';
import type { Producer } from './producers.js';

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

/** All holds, by owner and by lock. Each hold stands in `active` or in `ended`, in its lock's list, and while active in its producer's. */
export class HoldTable {
  readonly #limits: LedgerLimits;
  readonly #active = new Map<string, Hold>();
  readonly #ended = new Map<string, Hold>();
  readonly #byLock = new Map<string, Hold>();
  readonly #evicted: Evicted;
  #order = 0;

  constructor(limits: LedgerLimits, evicted: Evicted) {
    this.#limits = limits;
    this.#evicted = evicted;
  }

  get active(): ReadonlyMap<string, Hold> {
    return this.#active;
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

  find(owner: string): Hold | undefined {
    return this.#active.get(owner) ?? this.#ended.get(owner);
  }

  /** The youngest hold of a lock; the others follow by `older`. */
  youngestOf(lock: string): Hold | undefined {
    return this.#byLock.get(lock);
  }

  /** Adds a hold, as active. */
  add(facts: { lock: string; owner: string; resource: string }, producer: Producer, nowMs: number): Hold {
    this.#order += 1;
    const hold = new Hold(facts, producer, nowMs, this.#order);
    const youngest = this.#byLock.get(hold.lock);
    hold.older = youngest;
    this.#byLock.set(hold.lock, hold);
    this.#active.set(hold.owner, hold);
    producer.link(hold);
    if (youngest) this.#trimLock(hold);
    this.#evict(this.#active, this.#limits.maxHolds, 'holds');
    return hold;
  }

  /** The hold has ended. It is remembered, as the youngest of the ended. */
  end(hold: Hold): void {
    hold.state = 'ended';
    if (this.#active.delete(hold.owner)) hold.producer.unlink(hold);
    else this.#ended.delete(hold.owner);
    this.#ended.set(hold.owner, hold);
    this.#evict(this.#ended, this.#limits.maxEnded, 'ended');
  }

  /** An ended hold is reported again as held. */
  revive(hold: Hold, producer: Producer): void {
    if (!this.#ended.delete(hold.owner)) return;
    hold.producer = producer;
    this.#active.set(hold.owner, hold);
    producer.link(hold);
    this.#evict(this.#active, this.#limits.maxHolds, 'holds');
  }

  /** Forgets what ended long ago, the first that ended first. One with a long lease is passed over. */
  age(nowMs: number): void {
    for (const hold of this.#ended.values()) {
      if (Math.max(hold.leaseEndMs, hold.knownMs) + KEEP_ENDED_MS < nowMs) this.#forget(hold);
      else if (hold.leaseEndMs <= nowMs) return;
    }
  }

  /** Many at a time: finding the oldest of a map walks over all that was deleted before it. */
  #evict(from: ReadonlyMap<string, Hold>, limit: number, table: keyof Evicted): void {
    if (from.size <= limit + Math.floor(limit * EVICT_SHARE)) return;
    for (const hold of from.values()) {
      if (from.size <= limit) return;
      this.#forget(hold);
      this.#evicted[table] += 1;
    }
  }

  #forget(hold: Hold): void {
    if (this.#active.delete(hold.owner)) hold.producer.unlink(hold);
    this.#ended.delete(hold.owner);
    this.#unlinkFromLock(hold);
  }

  /** Of too many holds of one lock the oldest ended one goes; it is what a busy lock forgets all the time, and not counted. */
  #trimLock(youngest: Hold): void {
    let count = 0;
    let victim = youngest;
    for (let hold: Hold | undefined = youngest; hold; hold = hold.older) {
      count += 1;
      if (hold !== youngest && (hold.state === 'ended' || victim.state !== 'ended')) victim = hold;
    }
    if (count <= HOLDS_PER_LOCK) return;
    if (victim.state !== 'ended') this.#evicted.holds += 1;
    this.#forget(victim);
  }

  #unlinkFromLock(hold: Hold): void {
    const head = this.#byLock.get(hold.lock);
    if (head === hold) {
      if (hold.older) this.#byLock.set(hold.lock, hold.older);
      else this.#byLock.delete(hold.lock);
    }
    for (let younger = head; younger; younger = younger.older) {
      if (younger.older === hold) {
        younger.older = hold.older;
        break;
      }
    }
    hold.older = undefined;
  }
}
