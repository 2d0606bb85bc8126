import type { AcquireEvent, LockEvent, ReleaseEvent, RenewEvent } from '../../contract/event.js';
import type { ResourceSlot } from './resource-slot.js';

const MS_PER_SECOND = 1000;

/**
 * Counts one event in its resource's children. `wallMs` is the exporter's own time of receipt: no client's clock
 * shows on the page. A `commit` event moves no family; it stands on the timeline only.
 */
export function recordEvent(slot: ResourceSlot, event: LockEvent, wallMs: () => number): void {
  switch (event.kind) {
    case 'acquire':
      recordAcquire(slot, event, wallMs);
      return;
    case 'renew':
      recordRenew(slot, event);
      return;
    case 'check':
      slot.checks.inc(event.outcome);
      return;
    case 'lost':
      slot.lost.inc(event.by);
      return;
    case 'release':
      recordRelease(slot, event);
      return;
    case 'commit':
      return;
    case 'fence':
      // The child is born with the first report of any outcome, so that a later rejection is not its birth.
      slot.fenceRejections.inc(event.outcome === 'rejected' ? 1 : 0);
      return;
    case 'duplicate':
      slot.duplicates.inc(event.outcome === 'absorbed' ? 'true' : 'false');
      return;
    default:
      event satisfies never;
  }
}

function recordAcquire(slot: ResourceSlot, event: AcquireEvent, wallMs: () => number): void {
  slot.acquires.inc(event.mode);
  if (event.attempts > 1) slot.retries.inc(event.attempts - 1);
  switch (event.outcome) {
    case 'acquired':
      slot.wait.observe(event.waitMs / MS_PER_SECOND);
      slot.lastAcquired.set(wallMs() / MS_PER_SECOND);
      return;
    case 'contended':
      failAcquire(slot, event, 'contended');
      return;
    case 'timeout':
      slot.wait.observe(event.waitMs / MS_PER_SECOND);
      failAcquire(slot, event, event.reason);
      return;
    case 'aborted':
    case 'error':
    case 'unknown':
      failAcquire(slot, event, event.reason);
      return;
    default:
      event satisfies never;
  }
}

function failAcquire(slot: ResourceSlot, event: AcquireEvent, reason: string): void {
  (event.mode === 'try' ? slot.tryFailures : slot.waitFailures).inc(reason);
}

function recordRenew(slot: ResourceSlot, event: RenewEvent): void {
  const { renewals } = slot;
  renewals.margin.observe(event.leftMs / event.leaseMs);
  if (event.lateMs !== undefined) renewals.lateness.observe(event.lateMs / MS_PER_SECOND);
  switch (event.outcome) {
    case 'renewed':
      renewals.renewed.inc();
      return;
    case 'expired':
    case 'stolen':
      renewals.failed.inc(event.outcome);
      return;
    case 'error':
    case 'unknown':
      renewals.failed.inc(event.reason);
      return;
    default:
      event satisfies never;
  }
}

function recordRelease(slot: ResourceSlot, event: ReleaseEvent): void {
  slot.releases.inc();
  slot.hold.observe(event.holdMs / MS_PER_SECOND);
  slot.peakUse.observe(event.peakUse);
  const ratio = event.holdMs / event.leaseMs;
  if (event.renewals > 0) {
    slot.renewedLeaseRatio.observe(ratio);
    slot.renewals.perHold.observe(event.renewals);
    slot.lastLeaseRatio.set(event.peakUse);
  } else {
    slot.fixedLeaseRatio.observe(ratio);
    slot.lastLeaseRatio.set(ratio);
  }
  recordReleaseOutcome(slot, event);
}

function recordReleaseOutcome(slot: ResourceSlot, event: ReleaseEvent): void {
  switch (event.outcome) {
    case 'released':
      return;
    case 'expired':
    case 'stolen':
      slot.notOwned.inc(event.outcome);
      return;
    case 'error':
    case 'unknown':
      slot.releaseFailures.inc(event.reason);
      return;
    default:
      event satisfies never;
  }
}
