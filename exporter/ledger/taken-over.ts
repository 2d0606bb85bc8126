import type { Hold } from './hold.js';

/** Whether another than the silent `hold` has been granted its lock since, by a report or by a look on the master. */
export function isTakenOver(hold: Hold, youngest: Hold | undefined): boolean {
  if (hold.suspicion?.found !== undefined) return true;
  for (let other = youngest; other; other = other.older) {
    if (other.row !== hold.row && isGranted(other) && isYounger(other, hold)) return true;
  }
  return false;
}

/** An acquire whose outcome is not known may have been none. */
function isGranted(hold: Hold): boolean {
  return hold.grantUs !== undefined || hold.is('givenUp') || hold.state !== 'ended';
}

function isYounger(one: Hold, other: Hold): boolean {
  if (one.grantUs === undefined || other.grantUs === undefined || one.serverId !== other.serverId)
    return one.order > other.order;
  return one.grantUs > other.grantUs;
}
