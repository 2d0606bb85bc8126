import type { LockEvent, LostEvent } from '../../contract/event.js';

/** The kinds of event whose answer can say that a lock is not owned. */
export type NotOwnedKind = Extract<LockEvent['kind'], 'renew' | 'check' | 'lost' | 'release'>;

/** What showed an overlap: an answer of Redis to one client, or the reports of two clients held side by side. */
export type OverlapProof = NotOwnedKind | 'reports';

/** One side of a finding, as far as it is known. */
export interface Party {
  /** Owner digest. */
  readonly owner: string | undefined;
  readonly fence: number | undefined;
  /** Redis's clock at its grant, in µs, of `serverId`. */
  readonly grantUs: number | undefined;
  readonly serverId: string | undefined;
  readonly producer: string | undefined;
  readonly app: string | undefined;
  readonly instance: string | undefined;
}

/**
 * What probably led to a loss, so that the reader begins at the right end. `pause`: the whole process stood still.
 * `slow_work`: it ran, but the work took longer than the lease, or than `maxHoldMs`. `renewal_failed`: it ran, and a watchdog was
 * to renew the lease, but no renewal was confirmed in time: the network, or Redis. `server_changed`: another server answered than the one that
 * had granted (failover, restart). `deleted`: the key went before its lease ended (DEL, eviction, FLUSHALL).
 */
export type Cause = 'pause' | 'slow_work' | 'renewal_failed' | 'server_changed' | 'deleted' | 'unknown';

interface Common {
  readonly store: string;
  readonly resource: string;
  /** Lock id. */
  readonly lock: string;
}

/**
 * The suspect window of an overlap: from the first grant to another until the work of the holder settled. What the holder
 * wrote in it, and what any of the others wrote, may have met.
 */
export interface SuspectWindow {
  /** The server of the window's times. */
  readonly serverId: string | undefined;
  /** Redis's clock at the earliest grant to another that is known. */
  readonly fromUs: number | undefined;
  /** Redis's clock when the holder's work settled, in µs, at the earliest. Undefined: not known yet. */
  readonly untilUs: number | undefined;
  /** Everybody who was granted the lock in the window, as far as known, the first granted first; at most 8. */
  readonly others: readonly Party[];
  /** Further ones that are known of. */
  readonly moreOthers: number;
}

/**
 * Mutual exclusion was violated: another was granted the lock before the work of this hold settled. Once per hold.
 *
 * Proven by a not-owned answer that tells a later fence, or by two reported holds: the later grant comes before the end of
 * the earlier work, both by one server's clock.
 *
 * Cannot see: the overlap of a holder that never reports again; one of two holds without fences where Redis's run id
 * is not known (Cluster, INFO forbidden); one across a failover to a server whose clock lags by more than the holds are apart;
 * a holder whose report comes when a dozen later holds of the lock have ended and been told. Its window begins too late where
 * the first other reports to another exporter, or not at all: an answer of Redis names the latest other only.
 *
 * Cannot tell, where a deposed master goes on granting, which of two grants came first: of a hold that it granted, a fence by
 * the new master says "overlap" also when that grant was earlier, and its work perhaps over.
 */
export interface Overlap extends Common, SuspectWindow {
  readonly kind: 'overlap';
  /** Whose work was still on. */
  readonly holder: Party;
  /** Who was granted first meanwhile, as far as known. */
  readonly other: Party;
  readonly provenBy: OverlapProof;
  readonly cause: Cause;
}

/**
 * The window of an overlap that was told before has become another: one more was granted the lock in it, or its end became
 * known. As often as that happens.
 */
export interface OverlapOther extends Common, SuspectWindow {
  readonly kind: 'overlap_other';
  readonly owner: string;
  /** The first other, as far as known now. */
  readonly other: Party | undefined;
  readonly cause: Cause;
}

/**
 * The length of an overlap that was told before: that of its window, from the first grant to another until the work settled,
 * also where that other settled before it. Once per overlap: when the end is known and the others' reports had time to come,
 * or when there is nothing more to come.
 *
 * Approximate when the first other never reported here, so that there may be an earlier one; when an earlier one did, but
 * cannot be told from one before the holder, whose own grant is not known or was by another server; or when an end is not known
 * by the server's clock.
 *
 * Cannot see: an earlier other that reports to another exporter, or whose report was lost, when a later one reports here. Then
 * the length is too small, and not called approximate.
 */
export interface OverlapEnd extends Common, SuspectWindow {
  readonly kind: 'overlap_end';
  readonly owner: string;
  /** The first other. */
  readonly other: Party | undefined;
  readonly lengthMs: number;
  readonly approximate: boolean;
  readonly cause: Cause;
}

/**
 * A client believes to hold a lock that Redis has lost: found before the client knows. Once per hold.
 *
 * Told when a look on the master found the key gone or another's, and two batches that the client built surely later, by the same
 * server, still report the hold. "Surely later": a client has one batch in flight, so a batch was built after the one before it
 * had been answered here; and nothing waited behind it. One is enough that carries an event which is younger than the look.
 *
 * Cannot see: a client that talks to another server than the one looked at (each sees its own truth); a key whose bytes
 * the client does not report; anything where Redis's run id is not known.
 */
export interface GhostHolder extends Common {
  readonly kind: 'ghost_holder';
  readonly holder: Party;
  /** Owner digest that the key had; undefined: the key was gone. */
  readonly found: string | undefined;
  /** Redis's clock at the look, and the server it was. */
  readonly seenUs: number;
  readonly serverId: string;
  readonly cause: Cause;
}

/**
 * A lock's expiry rises again and again after its owner's release or goodbye: a watchdog runs on. Once per further rise. A rise
 * is by Redis's clock and by this process's monotonic one.
 *
 * Cannot see: the first rise, which may be a renewal that was under way; renewals of an owner never reported here; two
 * renewals between two looks (they count as one); rises of less than a twentieth of the lease; any without sweeps, unless its client
 * said goodbye without a release; those of more than 10,000 keys at a time.
 */
export interface ZombieRenewal extends Common {
  readonly kind: 'zombie_renewal';
  readonly holder: Party;
}

/**
 * A producer fell silent and stayed silent beyond the end of its lease without release or goodbye. Once per hold; and once
 * more, as taken over, when another is found to have the lock only after that.
 *
 * Cannot tell a dead process from one that cannot reach this exporter. If it comes back with work that intersects another's,
 * that is an overlap then. Cannot see a client that fell silent while it was unsure what it holds; a later holder that neither
 * reports here nor is met by a look at the held key, or whose grant by another server only a report tells, as on a Cluster, where
 * servers are not known; nor one that comes ten minutes after the lease's end.
 */
export interface Abandoned extends Common {
  readonly kind: 'abandoned';
  readonly holder: Party;
  /** Another was granted the lock since: by its own report and the same server's clock, or by a look on the master that found its key. */
  readonly takenOver: boolean;
}

/**
 * A grant whose fence is not above the fence of an earlier grant, ordered by Redis's clock within one server id. Once per grant.
 *
 * Cannot see: across servers, whose clocks are not compared; and among grants without fence or time.
 */
export interface FenceRegression extends Common {
  readonly kind: 'fence_regression';
  /** Who got the fence that is too low. */
  readonly holder: Party;
  readonly other: Party;
}

/** How a client knew that it had lost a lock, and what it measured; of a `lost` event. */
export interface LossFacts {
  readonly by: LostEvent['by'];
  readonly sinceGrantMs: number;
  readonly leaseMs: number;
  /** Worst delay of its event loop during the hold. */
  readonly loopDelayMs: number;
}

/**
 * A client reported that it lost a lock while its work went on. Whether another was granted it meanwhile is not said with
 * that: then there is an overlap as well. Not made of a loss that a ghost holder told before.
 */
export interface Loss extends Common {
  readonly kind: 'lost';
  readonly holder: Party;
  readonly loss: LossFacts;
  readonly cause: Cause;
}

/** Whatever the ledger finds. */
export type Finding =
  | Overlap
  | OverlapOther
  | OverlapEnd
  | GhostHolder
  | ZombieRenewal
  | Abandoned
  | FenceRegression;
