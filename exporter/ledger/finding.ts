import type { LockEvent } from '../../contract/event.js';

/** What an event came with that its own fields leave out. */
export interface LedgerContext {
  /** The store that the event's lock lives in. */
  readonly store: string;
  /** The server that the event's fences and times belong to, where the event names none. */
  readonly serverId?: string | undefined;
}

/** The kinds of event whose answer can say that a lock is not owned. */
export type OverlapProof = Extract<LockEvent['kind'], 'renew' | 'check' | 'lost' | 'release'>;

/** Mutual exclusion was violated: another was granted the lock before the work of this hold settled. */
export interface Overlap {
  readonly kind: 'overlap';
  readonly store: string;
  readonly resource: string;
  readonly lock: string;
  /** Whose work was still on. */
  readonly owner: string;
  readonly fence: number;
  /** Fence of the latest grant, always above `fence`. */
  readonly latestFence: number;
  /** Redis's clock at the latest grant, in µs, where the answer told it. */
  readonly latestGrantUs: number | undefined;
  /** Redis's clock when the work settled, in µs, at the earliest. Known from a release only. */
  readonly settledUs: number | undefined;
  /** The server of both times. */
  readonly serverId: string | undefined;
  /** The kind of event that proved it. */
  readonly provenBy: OverlapProof;
  /** Wall time of that event by the client's clock, for people. */
  readonly atMs: number;
}

/** Whatever the ledger finds. A union to come: ghost holders, orphan keys and the like join by their `kind`. */
export type Finding = Overlap;
