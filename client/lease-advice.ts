import type { LockName } from './lock-name.js';
import type { AcquirePlan } from './options.js';
import type { Warnings } from './warnings.js';

/**
 * Warns of a lock that cannot hold by its own numbers (requirement L16), once per resource: the work may take longer
 * than the lock can live.
 */
export function adviseOnLease(plan: AcquirePlan, name: LockName, warnings: Warnings): void {
  const { workTimeoutMs, leaseMs, watchdog, maxHoldMs } = plan;
  if (workTimeoutMs === undefined) return;
  if (!watchdog && workTimeoutMs > leaseMs) {
    const message = `Locks of resource "${name.resource}" have a lease of ${leaseMs} ms, but their work may take ${workTimeoutMs} ms by its own time-outs: it can go on after the lease has ended, next to another holder. Raise leaseMs above workTimeoutMs, turn on watchdog, or shorten the time-outs of the work.`;
    warnings.give({ code: 'lease_shorter_than_work', message }, name.resource);
  }
  if (watchdog && workTimeoutMs > maxHoldMs) {
    const message = `Locks of resource "${name.resource}" are given up after maxHoldMs = ${maxHoldMs} ms, but their work may take ${workTimeoutMs} ms by its own time-outs. Raise maxHoldMs above workTimeoutMs, or shorten the time-outs of the work.`;
    warnings.give({ code: 'max_hold_shorter_than_work', message }, name.resource);
  }
}
