import { duration, increases, RESOURCE, STORE } from './promql.js';
import type { AlertSpec } from './rule.js';
import type { Thresholds } from './thresholds.js';

/** Alerts on the one thing a lock is for: that there is one holder, and the storage hears the right one. */
export function ownershipAlerts({ durations, limits }: Thresholds): AlertSpec[] {
  const { eventWindow, eventKeep, eventPageKeep, massWindow } = durations;
  const within = `within ${duration(eventWindow)}`;
  const event = { subject: 'ownership', signal: 'event', scope: 'resource', keep: eventKeep } as const;
  const happened = (counter: string, by = RESOURCE) => `${increases(counter, eventWindow, by)} > 0`;
  return [
    {
      ...event,
      name: 'Overlap',
      severity: 'critical',
      keep: durations.overlapKeep,
      expr: happened('overlaps_total'),
      summary: 'Two holders of one Redis lock: mutual exclusion was violated',
      says: `about {{ $value | printf "%.0f" }} holds ${within} during which another was granted the same lock before the work settled. Treat what both wrote as suspect; ask the exporter for the two holders, their fences and times (runbook, step 1).`,
      seenBy: 'redis_lock_overlaps_total',
    },
    {
      ...event,
      name: 'Lost',
      severity: 'critical',
      keep: eventPageKeep,
      expr: happened('lost_total{detected_by!="max_hold"}'),
      summary: 'A Redis lock was lost while its work went on',
      says: `about {{ $value | printf "%.0f" }} holds ${within} lost their lease, or their key, while the work went on. Nobody is known to have entered meanwhile; what was written after the loss is not protected.`,
      seenBy: 'redis_lock_lost_total',
    },
    {
      ...event,
      name: 'MassLost',
      severity: 'critical',
      keep: durations.massLostKeep,
      scope: 'store',
      expr: `count by (${STORE}) (\n  ${increases('lost_total{detected_by!="max_hold"}', massWindow)} > 0\n) >= ${limits.massLostResources}`,
      summary: 'Many Redis locks were lost at once: a failover, a flush or an eviction',
      says: `{{ $value | printf "%.0f" }} resources lost locks within ${duration(massWindow)}. Look at Redis first: a failover, FLUSHALL, eviction or a clock jump; the single losses are muted.`,
    },
    {
      ...event,
      name: 'FenceRegression',
      severity: 'critical',
      keep: eventPageKeep,
      subject: 'fencing',
      expr: happened('fence_regressions_total'),
      summary: 'Fencing numbers of a Redis lock went backwards',
      says: `about {{ $value | printf "%.0f" }} grants ${within} got a fence that is not above an earlier one. A store that compares fences refuses good writes or takes stale ones until the fence has caught up.`,
      seenBy: 'redis_lock_fence_regressions_total',
    },
    {
      ...event,
      name: 'DuplicateExecution',
      severity: 'critical',
      keep: eventPageKeep,
      subject: 'fencing',
      expr: happened('duplicate_executions_total{absorbed="false"}'),
      summary: 'A business action under a Redis lock ran twice',
      says: `about {{ $value | printf "%.0f" }} actions ${within} ran twice and nothing made the second one harmless. Reconcile the data now.`,
      seenBy: 'redis_lock_duplicate_executions_total',
    },
    {
      ...event,
      name: 'ReleaseNotOwned',
      severity: 'warning',
      expr: happened('release_not_owned_total', `${RESOURCE}, cause`),
      summary: 'Unlock returned 0: a release found its Redis lock gone',
      says: `about {{ $value | printf "%.0f" }} releases ${within} found the lock {{ if eq $labels.cause "stolen" }}in the hands of another{{ else }}gone{{ end }} (cause {{ $labels.cause }}). The lease is shorter than the work, or the key was deleted.`,
      seenBy: 'redis_lock_release_not_owned_total',
    },
    {
      ...event,
      name: 'GhostHolder',
      severity: 'warning',
      expr: happened('ghost_holders_total'),
      summary: 'A client believes it holds a Redis lock that Redis no longer gives it',
      says: `about {{ $value | printf "%.0f" }} holds ${within} were reported as live although Redis holds no such key, or one of another. The client does not know yet: its work goes on unprotected.`,
      seenBy: 'redis_lock_ghost_holders_total',
    },
    {
      ...event,
      name: 'AbandonedTakenOver',
      severity: 'warning',
      expr: happened('abandoned_total{taken_over="true"}'),
      summary: 'A silent holder of a Redis lock was replaced',
      says: `about {{ $value | printf "%.0f" }} holders ${within} fell silent beyond the end of their lease, and another holds their lock. Should one of them still work, then two do: an overlap that nobody can prove yet.`,
      seenBy: 'redis_lock_abandoned_total',
    },
    {
      ...event,
      name: 'FenceRejections',
      severity: 'warning',
      subject: 'fencing',
      expr: happened('fence_rejections_total'),
      summary: 'The storage refused a stale write: the last line of defence was needed',
      says: `about {{ $value | printf "%.0f" }} writes ${within} were refused because a later fence had been seen. The data is safe; the lock in front of it is not.`,
      seenBy: 'redis_lock_fence_rejections_total',
    },
  ];
}
