import type { Cause } from './finding.js';
import type { Hold } from './hold.js';

/** A key that goes this much before its lease ends was not ended by it. */
const EARLY_US = 50_000;
/** An event loop that stood still for this share of a lease explains that the lease ended. */
const PAUSE_SHARE = 0.5;

/**
 * What probably cost `hold` its lock. @param goneUs when the key was surely no longer its own, by the clock of `serverId`
 */
export function causeOf(hold: Hold, goneUs: number | undefined, serverId: string | undefined): Cause {
  const { serverId: grantedBy, leaseEndUs, loopDelayMs, leaseMs } = hold;
  if (grantedBy !== undefined && serverId !== undefined && grantedBy !== serverId) return 'server_changed';
  if (goneUs !== undefined && leaseEndUs !== undefined && goneUs < leaseEndUs - EARLY_US) return 'deleted';
  if (loopDelayMs === undefined || leaseMs === 0) return 'unknown';
  if (loopDelayMs >= leaseMs * PAUSE_SHARE) return 'pause';
  return hold.is('watchdog') && !hold.is('reachedMaxHold') ? 'renewal_failed' : 'slow_work';
}
