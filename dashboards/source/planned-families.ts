import { type FamilySpec, type FamilyTable, specsOf } from '../../exporter/metrics/family-spec.js';
import type { Due } from './panel-source.js';

const RESOURCE = ['store', 'resource'] as const;
const LOCK = ['store', 'resource', 'lock'] as const;
const BOTH = { source: 'both', birth: 'eager', stability: 'stable' } as const;
const EVENTS = { source: 'events', birth: 'eager', stability: 'stable' } as const;

/**
 * Families that the design names and no exporter produces yet; panels over them say "not reported". A test holds
 * this list against the catalogue: a family that has become real must leave it.
 */
export const PLANNED_FAMILIES: FamilyTable = {
  holders: { ...BOTH, type: 'gauge', unit: 'count', labels: RESOURCE, help: 'Clients that believe to hold.' },
  unsure_holders: {
    ...BOTH,
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Holders that cannot be judged after a restart or a gap.',
  },
  overlap_seconds: {
    ...BOTH,
    type: 'histogram',
    unit: 'seconds',
    labels: RESOURCE,
    buckets: [0.01, 0.1, 1, 10, 60],
    help: 'How long two held the same lock.',
  },
  ghost_holders_total: {
    ...BOTH,
    type: 'counter',
    unit: 'count',
    labels: RESOURCE,
    help: 'Holds found lost in Redis before the client knew.',
  },
  orphan_keys: {
    ...BOTH,
    type: 'gauge',
    unit: 'count',
    labels: RESOURCE,
    help: 'Keys of reported owners that are silent.',
  },
  hot_attempts: {
    ...EVENTS,
    type: 'gauge',
    unit: 'count',
    labels: LOCK,
    help: 'Attempts on a hot lock in the window.',
  },
  hot_contended_ratio: {
    ...EVENTS,
    type: 'gauge',
    unit: 'ratio',
    labels: LOCK,
    help: 'Share of them that met a holder.',
  },
  hot_busy_ratio: {
    ...EVENTS,
    type: 'gauge',
    unit: 'ratio',
    labels: LOCK,
    help: 'Share of the window the lock was held.',
  },
  hot_hold_seconds: {
    ...EVENTS,
    type: 'gauge',
    unit: 'seconds',
    labels: LOCK,
    help: 'Mean hold of a hot lock.',
  },
};

/** The rows of {@link PLANNED_FAMILIES} with their full names. */
export function plannedSpecs(): FamilySpec[] {
  return specsOf(PLANNED_FAMILIES);
}

/** When a query of a family must give data: not before the family is real, then as said. */
export function onceReal(name: string, due: Due): Due {
  return name in PLANNED_FAMILIES ? 'planned' : due;
}
