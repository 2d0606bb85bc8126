import { AT_RESOURCE, AT_STORE, counter, fault, type Line, ONSET, once } from './lines.js';
import { policyLine } from './policy-line.js';
import type { Proof } from './proof.js';

const NO_PAGE = { page: 'false' };

/** Alerts on events: one increment in one minute, after an hour without any. */
export const OWNERSHIP_PROOFS: readonly Proof[] = [
  ...pageAndTicket({
    alert: 'Overlap',
    counter: 'redis_lock_overlaps_total',
    keepMinutes: 25,
    labels: { severity: 'critical', subject: 'ownership' },
    says: 'about 1 holds within 15m during which another was granted the same lock before the work settled. Treat what both wrote as suspect; ask the exporter for the two holders, their fences and times (runbook, step 1).',
  }),
  ...pageAndTicket({
    alert: 'Lost',
    counter: 'redis_lock_lost_total',
    more: { detected_by: 'deadline' },
    labels: { severity: 'critical', subject: 'ownership' },
    says: 'about 1 holds within 15m lost their lease, or their key, while the work went on. Nobody is known to have entered meanwhile; what was written after the loss is not protected.',
    silent: {
      'a hold given up on purpose at maxHoldMs': [
        counter('redis_lock_lost_total', { ...AT_RESOURCE, detected_by: 'max_hold' }, once()),
      ],
    },
  }),
  massLost(),
  ...pageAndTicket({
    alert: 'FenceRegression',
    counter: 'redis_lock_fence_regressions_total',
    labels: { severity: 'critical', subject: 'fencing' },
    says: 'about 1 grants within 15m got a fence that is not above an earlier one. A store that compares fences refuses good writes or takes stale ones until the fence has caught up.',
  }),
  ...pageAndTicket({
    alert: 'DuplicateExecution',
    counter: 'redis_lock_duplicate_executions_total',
    more: { absorbed: 'false' },
    labels: { severity: 'critical', subject: 'fencing' },
    says: 'about 1 actions within 15m ran twice and nothing made the second one harmless. Reconcile the data now.',
    silent: {
      'a duplicate that was absorbed': [
        counter('redis_lock_duplicate_executions_total', { ...AT_RESOURCE, absorbed: 'true' }, once()),
      ],
    },
  }),
  event({
    alert: 'ReleaseNotOwned',
    variant: 'expired',
    counter: 'redis_lock_release_not_owned_total',
    more: { cause: 'expired' },
    labels: { severity: 'warning', page: 'false', subject: 'ownership', cause: 'expired' },
    says: 'about 1 releases within 15m found the lock gone (cause expired). The lease is shorter than the work, or the key was deleted.',
  }),
  event({
    alert: 'ReleaseNotOwned',
    variant: 'stolen',
    counter: 'redis_lock_release_not_owned_total',
    more: { cause: 'stolen' },
    labels: { severity: 'warning', page: 'false', subject: 'ownership', cause: 'stolen' },
    says: 'about 1 releases within 15m found the lock in the hands of another (cause stolen). The lease is shorter than the work, or the key was deleted.',
  }),
  event({
    alert: 'GhostHolder',
    counter: 'redis_lock_ghost_holders_total',
    labels: { severity: 'warning', page: 'false', subject: 'ownership' },
    says: 'about 1 holds within 15m were reported as live although Redis holds no such key, or one of another. The client does not know yet: its work goes on unprotected.',
  }),
  event({
    alert: 'AbandonedTakenOver',
    counter: 'redis_lock_abandoned_total',
    more: { taken_over: 'true' },
    labels: { severity: 'warning', page: 'false', subject: 'ownership' },
    says: 'about 1 holders within 15m fell silent beyond the end of their lease, and another holds their lock. Should one of them still work, then two do: an overlap that nobody can prove yet.',
    silent: {
      'a silent holder that nobody followed: its process has died': [
        counter('redis_lock_abandoned_total', { ...AT_RESOURCE, taken_over: 'false' }, once()),
      ],
    },
  }),
  event({
    alert: 'FenceRejections',
    counter: 'redis_lock_fence_rejections_total',
    labels: { severity: 'warning', page: 'false', subject: 'fencing' },
    says: 'about 1 writes within 15m were refused because a later fence had been seen. The data is safe; the lock in front of it is not.',
  }),
];

/** The line of an exporter that went away 25 minutes before the onset. */
function goneEarly(line: Line): Line {
  return { ...line, values: line.values.map((value, now) => (now <= ONSET - 25 ? value : '_')) };
}

interface EventCase extends Pick<Proof, 'alert' | 'labels' | 'says'> {
  variant?: string;
  counter: string;
  /** How long it keeps firing after the window. Default 15. */
  keepMinutes?: number;
  /** Labels of the counter beyond the resource's. */
  more?: Readonly<Record<string, string>>;
  silent?: Proof['silent'];
  policy?: readonly Line[];
}

function event(given: EventCase): Proof {
  const labels = { ...AT_RESOURCE, ...given.more };
  const policy = given.policy ?? [];
  const keep = given.keepMinutes ?? 15;
  const line = (growth: (minute: number) => number) => counter(given.counter, labels, growth);
  return {
    alert: given.alert,
    ...(given.variant === undefined ? {} : { variant: given.variant }),
    why: `One event is enough. It is seen for the window of 15 minutes, and kept for another ${keep}.`,
    lines: [line(once()), ...policy],
    notYet: ONSET - 1,
    firesAt: ONSET,
    stillAt: ONSET + 12 + keep,
    goneAt: ONSET + 16 + keep,
    labels: { signal: 'event', ...given.labels },
    scope: 'resource',
    says: given.says,
    seenBy: '10.0.0.1:9722',
    silent: {
      'an old event, counted before': [line(() => 0)].map(({ values, ...rest }) => ({
        ...rest,
        values: values.map(() => 5),
      })),
      ...Object.fromEntries(
        Object.entries(given.silent ?? {}).map(([name, lines]) => [name, [...lines, ...policy]]),
      ),
    },
    alsoFires: {
      'the exporter counted five before': [line((minute) => (minute === 1 ? 5 : once()(minute))), ...policy],
      ...(policy.length === 0
        ? {}
        : { 'its policy was last seen 25 minutes ago': [line(once()), ...policy.map(goneEarly)] }),
    },
  };
}

function pageAndTicket(given: EventCase): Proof[] {
  const both = { keepMinutes: 20, ...given };
  const page = { ...both, labels: { ...given.labels, page: 'true' } };
  const ticket = { ...both, labels: { ...given.labels, page: 'false' }, policy: [policyLine(NO_PAGE)] };
  return [event(page), event({ ...ticket, variant: 'no-page' })];
}

function massLost(): Proof {
  const lost = (resource: string, growth = once()) =>
    counter('redis_lock_lost_total', { ...AT_STORE, resource, detected_by: 'renew' }, growth);
  const resources = (count: number) => Array.from({ length: count }, (_, n) => `r${n + 1}`);
  return {
    alert: 'MassLost',
    why: 'Five resources of one store within five minutes; four are still five pages or fewer.',
    lines: resources(5).map((name) => lost(name)),
    notYet: ONSET - 1,
    firesAt: ONSET,
    stillAt: ONSET + 37,
    goneAt: ONSET + 41,
    labels: { severity: 'critical', page: 'true', subject: 'ownership', signal: 'event' },
    scope: 'store',
    says: '5 resources lost locks within 5m. Look at Redis first: a failover, FLUSHALL, eviction or a clock jump; the single losses are muted.',
    silent: {
      'four resources': resources(4).map((name) => lost(name)),
      'five losses of one resource': [lost('r1', once(5))],
      'five resources, one after the other': resources(5).map((name, n) =>
        lost(name, once(1, ONSET + 6 * n)),
      ),
      'five given up on purpose': resources(5).map((resource) =>
        counter('redis_lock_lost_total', { ...AT_STORE, resource, detected_by: 'max_hold' }, fault(0, 1)),
      ),
    },
    skip: { gap: 'an outage longer than the window hides it; the single losses page instead' },
  };
}
