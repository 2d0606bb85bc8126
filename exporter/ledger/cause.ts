import type { Cause } from './finding.js';
import type { Hold } from './hold.js';

/** A key that goes this much before its lease ends was not ended by it. */
const EARLY_US = 50_000;
/** An event loop that stood still for this share of a lease explains that the lease ended. */
const PAUSE_SHARE = 0.5;
/** Room at the beginning, in rows; it doubles as often as needed. */
const FIRST_ROOM = 256;

/** What is known of how a lease was kept alive. */
const WATCHDOG = 1;
const MAX_HOLD = 2;

/** Knows what probably cost a hold its lock. Beside what the hold tells, it remembers, in a byte, how its lease was kept alive. */
export class Causes {
  #kept = new Uint8Array(FIRST_ROOM);

  /** The row of a hold is another's now. */
  begin({ row }: Hold): void {
    if (row < this.#kept.length) this.#kept[row] = 0;
  }

  /** A watchdog is to renew its lease. */
  hasWatchdog(hold: Hold): void {
    this.#add(hold, WATCHDOG);
  }

  /** Its client stopped renewing: it had the lock for as long as it may. */
  reachedMaxHold(hold: Hold): void {
    this.#add(hold, MAX_HOLD);
  }

  /**
   * What probably cost `hold` its lock. @param goneUs when the key was surely no longer its own, by the clock of `serverId`
   */
  causeOf(hold: Hold, goneUs: number | undefined, serverId: string | undefined): Cause {
    const { serverId: grantedBy, leaseEndUs, loopDelayMs, leaseMs } = hold;
    if (grantedBy !== undefined && serverId !== undefined && grantedBy !== serverId) return 'server_changed';
    if (goneUs !== undefined && leaseEndUs !== undefined && goneUs < leaseEndUs - EARLY_US) return 'deleted';
    if (loopDelayMs === undefined || leaseMs === 0) return 'unknown';
    if (loopDelayMs >= leaseMs * PAUSE_SHARE) return 'pause';
    return this.#kept[hold.row] === WATCHDOG ? 'renewal_failed' : 'slow_work';
  }

  #add({ row }: Hold, what: number): void {
    if (row >= this.#kept.length) {
      const kept = new Uint8Array(Math.max(2 * this.#kept.length, row + 1));
      kept.set(this.#kept);
      this.#kept = kept;
    }
    this.#kept[row] = (this.#kept[row] ?? 0) | what;
  }
}
