import { OVERLAP_SECONDS } from './buckets.js';
import type { FamilyTable } from './family-spec.js';

const RESOURCE = ['store', 'resource'] as const;
const LOCK = ['store', 'resource', 'lock'] as const;
const BOTH = { source: 'both', birth: 'eager', stability: 'stable' } as const;
const HOT = { source: 'events', birth: 'lazy', stability: 'stable', type: 'gauge', labels: LOCK } as const;

/** What follows from events and from looks at Redis held side by side. */
export const LEDGER_FAMILIES = {
  holders: {
    ...BOTH,
    birth: 'lazy',
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Holds that a client believes in now, by its own reports.',
  },
  unsure_holders: {
    ...BOTH,
    birth: 'lazy',
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Holders of clients whose full set of holds is not known, after a restart of the exporter or a gap in their batches: ghosts among them are not found. Part of redis_lock_holders.',
  },
  overlap_seconds: {
    ...BOTH,
    birth: 'lazy',
    type: 'histogram',
    unit: 'seconds',
    labels: RESOURCE,
    buckets: OVERLAP_SECONDS,
    help: "Length of an overlap: from the first grant to another until the late work settled, by Redis's clock, also where the other settled before it; approximate where an end is not known. Observed when an overlap is over; fewer than redis_lock_overlaps_total where a holder never reported its end.",
  },
  ghost_holders_total: {
    ...BOTH,
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: 'Holds that a client believed in while Redis had lost them: found by a look on the master before the client knew. Once per hold.',
  },
  orphan_keys: {
    ...BOTH,
    birth: 'lazy',
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Lock keys at the last sample whose owner was reported here, and whose client has been silent for three heartbeats or said goodbye.',
  },
  zombie_renewals_total: {
    ...BOTH,
    birth: 'lazy',
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: "Times that a lock key's expiry was seen to rise, from the second rise on, after its owner had released it or said goodbye: a lower bound.",
  },
  abandoned_total: {
    ...BOTH,
    type: 'counter',
    unit: 'count',
    labels: [...RESOURCE, 'taken_over'],
    seeds: [['false'], ['true']],
    help: 'Holds whose client fell silent and stayed so beyond the end of the lease, without a release or a goodbye. taken_over true: another was granted the lock meanwhile. A hold that is taken over only after it was counted as false counts as true as well, so the two are not to be added. A dead client and one that cannot reach the exporter look alike.',
  },
  fence_regressions_total: {
    ...BOTH,
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: "Grants whose fence is not above that of an earlier grant, ordered by Redis's clock within one server.",
  },
} as const satisfies FamilyTable;

/** The locks that most attempts go to: at most ten at a time. */
export const HOT_FAMILIES = {
  hot_attempts: {
    ...HOT,
    unit: 'count',
    help: 'Commands sent in the last full minute to get one of the ten hottest locks. Above the true number by at most the share that /api/v1/hot tells.',
  },
  hot_contended_ratio: {
    ...HOT,
    unit: 'ratio',
    help: 'Share of the attempts on a hot lock in the last full minute that met a holder.',
  },
  hot_busy_ratio: {
    ...HOT,
    unit: 'ratio',
    help: 'Share of the last full minute in which a hot lock was held, running holds counted up to its end.',
  },
  hot_hold_seconds: {
    ...HOT,
    unit: 'seconds',
    help: 'Mean work of the holds of a hot lock that ended in the last full minute. Absent when none did.',
  },
} as const satisfies FamilyTable;
