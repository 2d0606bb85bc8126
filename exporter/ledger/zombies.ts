import type { ZombieRenewal } from './finding.js';
import { type Hold, partyOf } from './hold.js';
import type { HoldTable } from './hold-table.js';
import type { SeenKey } from './ports.js';

/** Keys watched at a time, 200 bytes each. They are few: of releases that failed, and of goodbyes without one. */
const MAX_WATCHED = 10_000;
/** An expiry that moved by less may be a slow answer of Redis, or of this process. */
const LEAST_RISE_MS = 50;
/** A watchdog moves the expiry by a good part of a lease: most by a third. */
const LEAST_RISE_SHARE = 1 / 20;
const US_PER_MS = 1000;
/** A full table is looked through for keys that have gone once in so long, and not for each key that finds no room. */
const CLEAN_EVERY_MS = 1000;

/** What is known of a key whose owner gave it up: when it expires, by two clocks. */
interface Watched {
  /** By Redis's. */
  expiresUs: number;
  /** By this process's monotonic one. */
  expiresMs: number;
  rises: number;
}

/**
 * Watches the expiry of keys whose owner gave the lock up.
 *
 * A rise counts when two clocks agree on it: Redis's (its time and the key's remaining life, read together) and this process's
 * monotonic one. So neither makes one that is none: a Redis whose clock was set, or a replica or a new master whose clock differs;
 * an answer that came late; or the wall clock of this machine, which dates the look where Redis may not be asked for its time.
 */
export class Zombies {
  readonly #store: string;
  readonly #table: HoldTable;
  readonly #watched = new Map<string, Watched>();
  #cleanedMs = Number.NEGATIVE_INFINITY;

  constructor(store: string, table: HoldTable) {
    this.#store = store;
    this.#table = table;
  }

  /** Takes a look at a key. @param nowMonoMs when `leftMs` was left */
  see(key: SeenKey, nowMonoMs: number): ZombieRenewal | undefined {
    const { owner, leftMs, expiresUs } = key;
    const hold = owner === null ? undefined : this.#table.find(owner);
    if (owner === null || leftMs === null || expiresUs === null || !hold || !isGivenUp(hold, key))
      return undefined;
    const seen = { expiresUs, expiresMs: nowMonoMs + leftMs };
    const before = this.#watched.get(owner);
    if (before === undefined) this.#watch(hold, seen, nowMonoMs);
    else if (this.#rises(before, seen, hold.leaseMs)) return this.#tell(hold, before);
    return undefined;
  }

  #rises(before: Watched, seen: Omit<Watched, 'rises'>, leaseMs: number): boolean {
    const leastMs = Math.max(LEAST_RISE_MS, leaseMs * LEAST_RISE_SHARE);
    const isHigherThere = seen.expiresUs - before.expiresUs > leastMs * US_PER_MS;
    // The same expiry, read with less delay.
    if (!isHigherThere) before.expiresMs = Math.min(before.expiresMs, seen.expiresMs);
    if (!isHigherThere || seen.expiresMs - before.expiresMs <= leastMs) return false;
    Object.assign(before, seen);
    before.rises += 1;
    return true;
  }

  /** The first rise may be a renewal that was under way. */
  #tell(hold: Hold, { rises }: Watched): ZombieRenewal | undefined {
    if (rises < 2) return undefined;
    const { lock, resource } = hold;
    return { kind: 'zombie_renewal', store: this.#store, resource, lock, holder: partyOf(hold) };
  }

  /**
   * Begins with the expiry that the client itself had brought about, as far as it told: the look may be older than its last renewal.
   * When there are too many, those whose key has gone are forgotten, and no more are taken.
   */
  #watch(hold: Hold, seen: Omit<Watched, 'rises'>, nowMonoMs: number): void {
    if (this.#watched.size >= MAX_WATCHED) this.#clean(nowMonoMs);
    if (this.#watched.size >= MAX_WATCHED) return;
    const aheadUs = Math.max(0, (hold.leaseEndUs ?? 0) - seen.expiresUs);
    const expiresMs = seen.expiresMs + aheadUs / US_PER_MS;
    this.#watched.set(hold.owner, { expiresUs: seen.expiresUs + aheadUs, expiresMs, rises: 0 });
  }

  #clean(nowMonoMs: number): void {
    if (nowMonoMs - this.#cleanedMs < CLEAN_EVERY_MS) return;
    this.#cleanedMs = nowMonoMs;
    for (const [owner, { expiresMs }] of this.#watched)
      if (expiresMs < nowMonoMs) this.#watched.delete(owner);
  }
}

/** Its owner had said so when it was looked at, as far as that is known. */
function isGivenUp(hold: Hold, { seenUs }: SeenKey): boolean {
  if (!hold.is('givenUp') && !hold.producer.closed) return false;
  return hold.releasedUs === undefined || seenUs > hold.releasedUs;
}
