import type { LockEvent } from '../../contract/event.js';
import type { IngestCounters, IngestTotals } from './ingest-counters.js';

/** What the ledger found, as far as it is counted. */
export type MetricFinding = { readonly store: string; readonly resource: string } & (
  | {
      readonly kind: 'overlap' | 'overlap_other' | 'ghost_holder' | 'zombie_renewal' | 'fence_regression';
    }
  | { readonly kind: 'abandoned'; readonly takenOver: boolean }
  | { readonly kind: 'overlap_end'; readonly lengthMs: number }
);

/** Holders of one resource; `unsure` is a part of `holders`. */
export interface HolderCount {
  readonly resource: string;
  readonly holders: number;
  readonly unsure: number;
}

/** Sampled keys of one resource whose owner is not a client that is heard of. */
export interface KeyStandings {
  readonly resource: string;
  readonly foreign: number;
  readonly orphans: number;
}

/** What a hot lock's series show. */
export interface HotLockValues {
  readonly resource: string;
  /** Lock id. */
  readonly lock: string;
  readonly attempts: number;
  readonly contendedRatio: number;
  readonly busyRatio: number;
  /** `null`: no hold ended. */
  readonly meanHoldMs: number | null;
}

/** How the locks of a resource are judged: labels of `resource_info`, which rules join. */
export interface ResourcePolicy {
  readonly kind: string;
  readonly page: boolean;
  readonly expiry: string;
  readonly events: string;
  /** Longest time between two acquires, where there is one. */
  readonly intervalMs: number | undefined;
}

/** What a sample saw of one resource. */
export interface SampledResource {
  readonly resource: string;
  readonly keys: number;
  readonly withoutExpiry: number;
  /** Wall time; left out when no key expires. */
  readonly earliestExpiryMs?: number;
  readonly latestExpiryMs?: number;
  /** Since the oldest hold was first seen; left out when owners are not followed. */
  readonly oldestHoldS?: number;
}

/** What was seen to happen to the locks of one resource since the last report. Whole numbers. */
export interface ObservedChanges {
  readonly resource: string;
  readonly renewals: number;
  readonly handovers: number;
  readonly released: number;
  readonly expired: number;
}

/** One good sample of a store, complete or truncated. */
export interface SampleReport {
  readonly store: string;
  /** Wall time. */
  readonly takenAtMs: number;
  readonly durationMs: number;
  readonly truncated: boolean;
  /** Keys under a prefix that are no locks by their type. */
  readonly ignoredKeys?: number;
  /** Read once, before anything is published. A resource may come more than once. */
  readonly resources: Iterable<SampledResource>;
  /** Left out when nothing is observed. A resource may come more than once. */
  readonly changes?: Iterable<ObservedChanges>;
}

/** All that is measured, and the page that shows it. Nothing here throws for a value that comes from outside. */
export interface Metrics {
  readonly counters: IngestCounters & { totals(): IngestTotals };
  /** The content type of the page: text format 0.0.4. */
  readonly contentType: string;
  /** Counts an accepted event. Not called for rejected and duplicate ones. */
  recordEvent(event: LockEvent, store: string): void;
  /**
   * Counts a finding. Called once per finding. A ghost holder counts as a loss too, found by a sample; a further other of an
   * overlap is nothing to count.
   */
  recordFinding(finding: MetricFinding): void;
  /** Each puts what it is handed in the place of the store's last, in one synchronous turn. */
  publishHolders(store: string, counts: readonly HolderCount[]): void;
  publishStandings(store: string, standings: readonly KeyStandings[]): void;
  publishHotLocks(store: string, locks: readonly HotLockValues[]): void;
  /** Counts what the ledger forgot for want of room. */
  countEvicted(table: 'holds' | 'ended' | 'producers' | 'timeline', count: number): void;
  /** Counts a request that a listener refused, for a reason of the contract's list or of the listener's own. */
  countRefusal(listener: 'metrics' | 'local', reason: string): void;
  /** Puts the sample in the place of the store's last one, in one synchronous turn, and sets `up` to 1. */
  publishSample(sample: SampleReport): void;
  /**
   * The store's last sample is no longer true: its gauges vanish, and `up` is 0 with the reason. The time of the
   * last good sample stays, and so does all that comes from events. Also to be called at start, before the first.
   */
  withdrawSample(store: string, reason: string): void;
  /** Counts a failed sample, or a failed part of one. Withdraws nothing. */
  sampleError(store: string, reason: string): void;
  /** Counts a look that was left out. */
  sampleSkipped(store: string, reason: string): void;
  /**
   * The page in pieces of about 5 ms, with a turn of the event loop after each. What was not
   * born when it began is not on it. Never throws: a family that fails is left out and counted.
   */
  render(): AsyncIterable<string>;
}
