import type { FamilyTable } from './family-spec.js';

const STORE = ['store'] as const;
const RESOURCE = ['store', 'resource'] as const;
const SAMPLED = { source: 'sample', birth: 'eager', stability: 'stable' } as const;

/** What is seen in Redis itself. The gauges of a store vanish with a failed sample; they are never frozen, never 0 instead. */
export const SAMPLE_FAMILIES = {
  up: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'boolean',
    labels: [...STORE, 'reason'],
    help: '1 with reason="ok" when the last sample of the store succeeded, else 0 with the reason: what Redis answered, "starting" before the first sample has ended, "stale" when none ended for too long. One series per store.',
  },
  keys: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys in Redis at the last sample; with --sample-mode held only those that clients of this exporter hold.',
  },
  keys_without_expiry: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys without an expiry at the last sample: nothing but a release or a person ends them.',
  },
  foreign_keys: {
    ...SAMPLED,
    birth: 'lazy',
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys at the last sample whose owner was never reported to this exporter: other libraries, or clients of other exporters.',
  },
  earliest_expiry_timestamp_seconds: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'timestamp_seconds',
    labels: RESOURCE,
    help: 'When the first of the sampled lock keys expires. Absent without a key that expires.',
  },
  latest_expiry_timestamp_seconds: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'timestamp_seconds',
    labels: RESOURCE,
    help: 'When the last of the sampled lock keys expires. Absent without a key that expires.',
  },
  oldest_hold_seconds: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'seconds',
    labels: RESOURCE,
    help: 'Time since the longest held of the sampled lock keys was first seen with its present owner: a lower bound of its age.',
  },
  observed_renewals_total: {
    ...SAMPLED,
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys whose expiry had moved up since the look before, with the same owner: a lower bound of the renewals, whoever made them.',
  },
  observed_handovers_total: {
    ...SAMPLED,
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys that had another owner than at the look before: a lower bound of the locks that changed hands.',
  },
  observed_released_total: {
    ...SAMPLED,
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys that were gone before the expiry they were last seen with: somebody deleted them.',
  },
  observed_expired_total: {
    ...SAMPLED,
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys last seen with at most a tenth of their lease left, and gone after their expiry: their holder died or overran. Locks last seen earlier are counted neither here nor as released.',
  },
  sample_timestamp_seconds: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'timestamp_seconds',
    labels: STORE,
    help: 'When the last good sample was taken. Stays when later samples fail, so that its age can be alerted on.',
  },
  sample_duration_seconds: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'seconds',
    labels: STORE,
    help: 'How long the last sample took.',
  },
  sample_truncated: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'boolean',
    labels: STORE,
    help: '1 when the last sample did not look at every key itself: it ran into a budget, went on where an earlier one had, or a part of it failed.',
  },
  sample_ignored_keys: {
    ...SAMPLED,
    type: 'gauge',
    unit: 'count',
    labels: STORE,
    help: 'Keys under a lock prefix at the last sample that are no locks by their type (list, set, stream), such as queues of waiters.',
  },
  sample_skipped_total: {
    ...SAMPLED,
    type: 'counter',
    unit: 'count',
    labels: [...STORE, 'reason'],
    seeds: [['duty'], ['busy']],
    help: 'Looks at Redis that were left out: the share of its time was spent (duty), or the look before was still under way (busy).',
  },
  sample_errors_total: {
    ...SAMPLED,
    type: 'counter',
    unit: 'count',
    labels: [...STORE, 'reason'],
    seeds: [['connection'], ['command_timeout']],
    help: 'Samples, or parts of one, that failed.',
  },
} as const satisfies FamilyTable;
