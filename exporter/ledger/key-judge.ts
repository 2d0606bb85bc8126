import { BEATS_PER_LEASE, MIN_HEARTBEAT_MS } from '../../contract/batch.js';
import type { Finding } from './finding.js';
import { type Hold, partyOf } from './hold.js';
import type { HoldTable } from './hold-table.js';
import type { KeyStanding } from './ports.js';

/** A producer that missed so many heartbeats is silent. */
const SILENT_BEATS = 3;
/** An expiry that moved by less may be the reading of two clocks. */
const RISE_TOLERANCE_US = 50_000;

/** A key in Redis as it was looked at. */
export interface SeenKey {
  readonly owner: string | null;
  readonly leftMs: number | null;
  /** Redis's clock at the look. */
  readonly seenUs: number;
  /** Redis's clock at the key's expiry; `null`: without expiry. */
  readonly expiresUs: number | null;
}

/** Awake time after which a producer with such a lease counts as silent. */
export function silenceMs(leaseMs: number): number {
  return SILENT_BEATS * Math.max(MIN_HEARTBEAT_MS, leaseMs / BEATS_PER_LEASE);
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

/** Watches the expiry of keys whose owner gave the lock up. */
export function findZombie(store: string, key: SeenKey, table: HoldTable): Finding | undefined {
  const hold = key.owner === null ? undefined : table.find(key.owner);
  if (!hold?.is('givenUp') || key.expiresUs === null) return undefined;
  if (hold.releasedUs !== undefined && key.seenUs <= hold.releasedUs) return undefined;
  const before = hold.expiresUs;
  if (before === undefined || key.expiresUs > before) hold.expiresUs = key.expiresUs;
  if (before === undefined || key.expiresUs - before <= RISE_TOLERANCE_US) return undefined;
  hold.rises += 1;
  // The first may be a renewal that was under way, or another server's clock.
  if (hold.rises < 2) return undefined;
  const { lock, resource } = hold;
  return { kind: 'zombie_renewal', store, resource, lock, holder: partyOf(hold) };
}
