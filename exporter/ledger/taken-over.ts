import type { Hold } from './hold.js';

/**
 * Whether another than the silent `hold` has been granted its lock since: by a look on the master, or by a report of the server
 * that had granted `hold`. Another server's clock does not tell which of two grants was the later one, nor does the order in which
 * they are heard of: a report may come late.
 *
 * @param youngest of the lock; undefined: there is no other than `hold`
 */
export function isTakenOver(hold: Hold, youngest: Hold | undefined): boolean {
  if (hold.suspicion?.found !== undefined) return true;
  for (let other = youngest; other; other = other.older) if (isYounger(other, hold)) return true;
  return false;
}

function isYounger(one: Hold, other: Hold): boolean {
  if (one.grantUs === undefined || other.grantUs === undefined) return false;
  return one.serverId !== undefined && one.serverId === other.serverId && one.grantUs > other.grantUs;
}
