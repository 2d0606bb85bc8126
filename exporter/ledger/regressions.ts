import type { FenceRegression } from './finding.js';
import { type Hold, partyOf } from './hold.js';
import type { HoldTable } from './hold-table.js';

/** Holds the fence of `hold` against those of the lock's other grants by the same server. */
export function findRegressions(
  store: string,
  hold: Hold,
  table: HoldTable,
  found: (one: FenceRegression) => void,
): void {
  if (hold.fence === undefined || hold.grantUs === undefined || hold.serverId === undefined) return;
  for (let other = table.youngestOf(hold.lock); other; other = other.older) {
    if (other.row === hold.row || other.serverId !== hold.serverId || other.grantUs === undefined) continue;
    if (other.grantUs === hold.grantUs) continue;
    const [earlier, later] = other.grantUs < hold.grantUs ? [other, hold] : [hold, other];
    if (!isRegression(earlier, later)) continue;
    later.mark('toldRegression');
    const { lock, resource } = later;
    found({
      kind: 'fence_regression',
      store,
      resource,
      lock,
      holder: partyOf(later),
      other: partyOf(earlier),
    });
  }
}

/**
 * A fence ahead of the clock that granted it says that the clock was set back. Then the order by the clock is not the true one
 * when the reports came in the opposite order.
 */
function isRegression(earlier: Hold, later: Hold): boolean {
  if (later.is('toldRegression') || earlier.fence === undefined || later.fence === undefined) return false;
  if (later.fence > earlier.fence) return false;
  const clockWasSet = earlier.fence > (earlier.grantUs ?? 0) && earlier.order > later.order;
  return !clockWasSet;
}
