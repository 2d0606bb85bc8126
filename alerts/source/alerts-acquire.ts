import { duration, increases, indent, policy, quantile, RESOURCE, rates, ratio } from './promql.js';
import type { AlertSpec } from './rule.js';
import type { Thresholds } from './thresholds.js';

/**
 * Reasons that are no failure of service: the lock is another's, which is an answer; the caller itself gave up,
 * shed the load, or closed the client.
 */
const NO_FAILURE = 'reason!~"contended|signal|shed|closed"';

/** Alerts on callers that do not get their lock. */
export function acquireAlerts(thresholds: Thresholds): AlertSpec[] {
  const { durations, limits, floors } = thresholds;
  const state = { subject: 'acquire', signal: 'state', scope: 'resource' } as const;
  return [
    {
      ...state,
      name: 'AcquireFailing',
      severity: 'critical',
      expr: `${failureRatio(durations.pageWindow, floors.acquires)} > ${limits.acquireFailing}`,
      pending: durations.acquireFailingFor,
      keep: durations.acquireFailingKeep,
      summary: 'Most calls to acquire a Redis lock fail',
      says: `{{ $value | humanizePercentage }} of the calls to acquire within ${duration(durations.pageWindow)} timed out, failed or had an unknown outcome. Contended tries are not among them.`,
    },
    {
      ...state,
      name: 'AcquireFailureRateHigh',
      severity: 'warning',
      expr: `${failureRatio(durations.ticketWindow, floors.acquires)} > ${limits.acquireFailureRateHigh}`,
      pending: durations.acquireFailureRateHighFor,
      keep: durations.acquireFailureRateHighKeep,
      summary: 'Many calls to acquire a Redis lock fail',
      says: `{{ $value | humanizePercentage }} of the calls to acquire within ${duration(durations.ticketWindow)} timed out, failed or had an unknown outcome. Contended tries are not among them.`,
    },
    {
      ...state,
      name: 'AcquireWaitHigh',
      severity: 'warning',
      expr: [
        `${quantile(0.99, 'acquire_wait_seconds_bucket', durations.ticketWindow)} > ${limits.acquireWaitSeconds}`,
        'and',
        `${increases('acquire_wait_seconds_count', durations.ticketWindow)} >= ${floors.acquires}`,
      ].join('\n'),
      pending: durations.acquireWaitHighFor,
      summary: 'Callers wait long for a Redis lock',
      says: 'the slowest 1 % of the callers wait {{ $value | humanizeDuration }} or longer for the lock.',
    },
    contentionHigh(thresholds, state),
  ];
}

/** Failures by calls of the worse of the two modes, so that thousands of contended tries do not hide failing waits. */
function failureRatio(window: number, floor: number): string {
  const byMode = `${RESOURCE}, mode`;
  const failures = rates(`acquire_failures_total{${NO_FAILURE}}`, window, byMode);
  const calls = rates('acquire_total', window, byMode);
  const enough = `${increases('acquire_total', window, byMode)} >= ${floor}`;
  return `max by (${RESOURCE}) (\n  ${indent(`${ratio(failures, calls)}\nand\n${enough}`)}\n)`;
}

function contentionHigh(
  { durations, limits, floors }: Thresholds,
  state: Pick<AlertSpec, 'subject' | 'signal' | 'scope'>,
): AlertSpec {
  const window = durations.ticketWindow;
  // All three are born with the resource's first event.
  const retries = rates('acquire_retries_total', window);
  const attempts = `(${rates('acquire_total', window)} + ${retries})`;
  const refused = `(${rates('acquire_failures_total{reason=~"contended|wait_limit"}', window)} + ${retries})`;
  return {
    ...state,
    name: 'ContentionHigh',
    severity: 'info',
    expr: [
      `${ratio(refused, attempts)} > ${limits.contentionHigh}`,
      'and',
      `${increases('acquire_total', window)} >= ${floors.acquires}`,
      'unless',
      policy('kind=~"leader|cron|try"', durations.policyWindow),
    ].join('\n'),
    pending: durations.contentionHighFor,
    summary: 'A Redis lock is mostly found held',
    says: '{{ $value | humanizePercentage }} of the attempts found the lock held by another.',
  };
}
