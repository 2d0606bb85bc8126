import { sumBy } from './expressions.js';
import { family, target } from './metrics.js';

/**
 * Reasons that are a failure of service. A contended try is an answer, and what the caller gave up itself (its
 * signal, load shedding, a closed client) is no failure of the lock.
 */
export const FAILED = 'reason!~"contended|signal|shed|closed"';

/** Losses that were not given up on purpose by a hold's own limit. */
export const UNWANTED = 'detected_by!="max_hold"';

/** Holds that were never extended: for these, hold time divided by lease must stay below 1. */
export const FIXED_LEASE = 'renewed="false"';

/** 1 or 0 for each target of a job that had an exporter within a day, also when all of its targets are down. */
export function exporterTargets(): string {
  return `${target('up')} and on (job) last_over_time(${family('exporter_build_info')}[1d])`;
}

/** How many of a set fulfil a condition: 0 where the set is there and none does, nothing where the set is not there. */
export function countWhere(set: string, condition: string): string {
  return `count(${set} ${condition}) or 0 * count(${set})`;
}

/** The first of `count` rows by `expression`, to be joined with `and`: only for tables as of now. */
export function among(count: number, expression: string): string {
  return `and on (store, resource) topk(${count}, ${expression})`;
}

/** Sampled age: seconds since the last good sample of each store. */
export function sampleAge(): string {
  return `time() - max by (store) (${family('sample_timestamp_seconds')})`;
}

/** How long ago or ahead a wall time is; never averaged over exporters. */
export function untilEarliest(name: 'earliest_expiry_timestamp_seconds'): string {
  return `min by (store, resource) (${family(name)}) - time()`;
}

/** Acquires per second, the whole of every share. */
export function attempts(by: readonly string[] = []): string {
  return sumBy(by, `rate(${family('acquire_total')}[$__rate_interval])`);
}
