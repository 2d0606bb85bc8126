import type { FamilyTable } from './family-spec.js';

const RESOURCE = ['store', 'resource'] as const;
const POLICY = { source: 'exporter', stability: 'stable', type: 'gauge' } as const;

/** What the configuration says of a resource, for rules to join. */
export const POLICY_FAMILIES = {
  resource_info: {
    ...POLICY,
    birth: 'eager',
    unit: 'info',
    labels: [...RESOURCE, 'kind', 'page', 'expiry', 'events'],
    help: 'Always 1; the policy of a resource is in the labels: what it is for, whether its alerts page, whether its keys must expire, whether clients report events about it. Every resource has it, by the configuration or by default.',
  },
  resource_interval_seconds: {
    ...POLICY,
    birth: 'lazy',
    unit: 'seconds',
    labels: RESOURCE,
    help: 'Longest time between two acquires that the policy of a cron resource allows.',
  },
} as const satisfies FamilyTable;
