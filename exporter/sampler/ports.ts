import type { RedisReason } from '../../contract/outcomes.js';
import type { ObservedChanges } from './observed-changes.js';

/** What a sample saw of one resource. */
export interface SampledResource {
  readonly resource: string;
  readonly keys: number;
  readonly withoutExpiry: number;
  /** Wall times in ms by this machine's clock; left out when no key expires. */
  readonly earliestExpiryMs?: number;
  readonly latestExpiryMs?: number;
  /** Since the longest held key was first seen with its present owner: a lower bound of its age. */
  readonly oldestHoldS?: number;
}

/** One good sample of a store. */
export interface SampleReport {
  readonly store: string;
  /** Wall time of the sample's end. */
  readonly takenAtMs: number;
  readonly durationMs: number;
  /** This look did not see every key itself: it was cut, went on where one was cut, or a part of it failed. */
  readonly truncated: boolean;
  /** Keys under a prefix that are no locks by their type. */
  readonly ignoredKeys: number;
  readonly resources: Iterable<SampledResource>;
  /** What was seen to happen since the last report. */
  readonly changes: Iterable<ObservedChanges>;
}

/**
 * Why there is no sample: what Redis said; `starting` before the first look has ended; `stale` when none ended
 * for too long.
 */
export type DownReason = RedisReason | 'starting' | 'stale';

/** Why a tick of the schedule was left out: the share of the server's time was spent, or a look was under way. */
export type SkipReason = 'duty' | 'busy';

/** Where samples go. Called in one synchronous turn per sample, so that nobody sees half of one. */
export interface SamplePort {
  /** Puts the sample in the place of the last one. */
  publishSample(report: SampleReport): void;
  /** The last sample is no longer true, or there is none yet. Also called once at start. */
  withdrawSample(store: string, reason: DownReason): void;
  /** A sample, or a part of one, failed. Withdraws nothing. */
  sampleError(store: string, reason: RedisReason): void;
  /** A tick was left out. */
  sampleSkipped(store: string, reason: SkipReason): void;
}

/** What a look on the master says of a key that a client of this exporter holds by its own word. */
export type HeldLook = {
  /** Lock id. */
  readonly lock: string;
  readonly resource: string;
  /** Redis's clock at the look; comparable only within one `serverId`, which is `null` where INFO is not allowed. */
  readonly serverUs: number;
  readonly serverId: string | null;
} & (
  | { readonly state: 'gone' }
  | {
      readonly state: 'there';
      /** `null`: without expiry. */
      readonly leftMs: number | null;
      /** Digest of the value; `null` when it is no string, or too large to read. */
      readonly owner: string | null;
    }
);

/** One look at the held keys. Keys of which nothing is known, as their server did not answer, are not in it. */
export interface HeldLookReport {
  readonly store: string;
  /** May be walked over more than once, in the turn in which it is told. */
  readonly looks: Iterable<HeldLook>;
}

/** Hears of each look at the held keys, in one synchronous turn. */
export interface HeldLookPort {
  heldLooked(report: HeldLookReport): void;
}

/** Calls `tick` again and again. */
export interface Schedule {
  /** Ms until the next tick by the schedule; undefined when there is none. */
  msToNext(): number | undefined;
  stop(): void;
}

/** Starts a schedule. A `tick` never rejects. */
export type StartSchedule = (tick: () => Promise<void>) => Schedule;
