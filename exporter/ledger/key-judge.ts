import { BEATS_PER_LEASE, MIN_HEARTBEAT_MS } from '../../contract/batch.js';
import type { Hold } from './hold.js';
import type { HoldTable } from './hold-table.js';
import type { KeyStanding, SeenKey } from './ports.js';
import type { Producer } from './producers.js';

/** A producer that missed so many heartbeats is silent. */
const SILENT_BEATS = 3;

/** Awake time after which a producer with such a lease counts as silent. */
export function silenceMs(leaseMs: number): number {
  return SILENT_BEATS * Math.max(MIN_HEARTBEAT_MS, leaseMs / BEATS_PER_LEASE);
}

/** Whether any hold of this client can be said to be silent, whatever its lease. */
export function mayBeSilent({ closed, heardMs }: Producer, nowMs: number): boolean {
  return closed || nowMs - heardMs >= silenceMs(0);
}

/** Whether the hold's client has not been heard of for three heartbeats, or has said goodbye. */
export function isSilent({ producer, leaseMs }: Hold, nowMs: number): boolean {
  return producer.closed || nowMs - producer.heardMs >= silenceMs(leaseMs);
}

/**
 * Says whose a sampled key is.
 *
 * An orphan's owner was reported here, and its client has been silent for three heartbeats of this process's own uptime. It
 * cannot see whether that client is dead or only cannot reach this exporter. A foreign key may be another library's, another
 * exporter's client's, or one whose hold was forgotten for want of room.
 */
export function standingOf(key: SeenKey, table: HoldTable, nowMs: number): KeyStanding {
  const hold = key.owner === null ? undefined : table.find(key.owner);
  if (!hold) return 'foreign';
  // Seen before its release: it is gone by now.
  if (hold.releasedUs !== undefined && key.seenUs <= hold.releasedUs) return 'held';
  return isSilent(hold, nowMs) ? 'orphan' : 'held';
}
