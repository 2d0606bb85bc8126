import type { RedisReason } from '../../contract/outcomes.js';

/** What a sample saw of one resource. */
export interface ResourceSummary {
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
  /** This sweep did not look at every key itself: it was cut, or went on where an earlier one was cut. */
  readonly truncated: boolean;
  readonly resources: Iterable<ResourceSummary>;
}

/** Where samples go. Called in one synchronous turn per sample, so that nobody sees half of one. */
export interface SamplePort {
  /** Puts the sample in the place of the last one. */
  publishSample(report: SampleReport): void;
  /** The last sample is no longer true, or there is none yet. Also called once at start. */
  withdrawSample(store: string, reason: RedisReason): void;
  /** A sample, or a part of one, failed. Withdraws nothing. */
  sampleError(store: string, reason: RedisReason): void;
}

/** Calls `tick` again and again; each call waits for the one before. */
export interface Schedule {
  /** Ms until the next tick by the schedule; undefined when there is none. */
  msToNext(): number | undefined;
  stop(): void;
}

/** Starts a schedule. A `tick` never rejects. */
export type StartSchedule = (tick: () => Promise<void>) => Schedule;
