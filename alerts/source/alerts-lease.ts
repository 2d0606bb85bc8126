import {
  bridged,
  duration,
  INSTANCE,
  increases,
  policy,
  quantile,
  RESOURCE,
  rates,
  ratio,
  STORE,
} from './promql.js';
import type { AlertSpec } from './rule.js';
import type { Thresholds } from './thresholds.js';

/** Alerts on leases that are too short for their work, or extended without end. */
export function leaseAlerts(thresholds: Thresholds, job: string): AlertSpec[] {
  return [
    ...quantileAlerts(thresholds),
    lastHoldNearLease(thresholds),
    notAcquired(thresholds, job),
    ...watchdogRunaway(thresholds),
    renewalFailures(thresholds),
  ];
}

const STATE = { subject: 'lease', signal: 'state', scope: 'resource' } as const;
const FIXED = '{renewed="false"}';

function quantileAlerts({ durations, limits, floors }: Thresholds): AlertSpec[] {
  const { pageWindow, ticketWindow } = durations;
  const p99 = (family: string, window: number, limit: number, enough: string) =>
    `${quantile(0.99, family, window)} > ${limit}\nand\n${increases(enough, window)} >= `;
  return [
    {
      ...STATE,
      name: 'HoldBeyondLease',
      severity: 'critical',
      expr: `${p99(`hold_lease_ratio_bucket${FIXED}`, pageWindow, limits.holdBeyondLease, `hold_lease_ratio_count${FIXED}`)}${floors.holds}`,
      pending: durations.holdBeyondLeaseFor,
      keep: durations.holdBeyondLeaseKeep,
      summary: 'Work under a Redis lock outlives its lease, again and again',
      says: 'the P99 of hold time is {{ $value | humanizePercentage }} of the lease (locks without watchdog): the end of the work is not protected.',
    },
    {
      ...STATE,
      name: 'HoldNearLease',
      severity: 'warning',
      expr: `${p99(`hold_lease_ratio_bucket${FIXED}`, ticketWindow, limits.holdNearLease, `hold_lease_ratio_count${FIXED}`)}${floors.holds}`,
      pending: durations.holdNearLeaseFor,
      summary: 'Work under a Redis lock takes nearly its whole lease',
      says: 'the P99 of hold time is {{ $value | humanizePercentage }} of the lease (locks without watchdog): one pause and the lock is lost.',
    },
    {
      ...STATE,
      name: 'LeaseNearlyUsedUp',
      severity: 'warning',
      expr: `${p99('lease_peak_use_ratio_bucket', ticketWindow, limits.leaseNearlyUsedUp, 'renewals_per_hold_count')}${floors.holds}`,
      pending: durations.leaseNearlyUsedUpFor,
      summary: 'Renewals of a Redis lock come nearly too late',
      says: 'the P99 of the largest share of a lease used before it was extended is {{ $value | humanizePercentage }}; a healthy watchdog shows about 35%.',
    },
  ];
}

function lastHoldNearLease({ durations, limits, floors }: Thresholds): AlertSpec {
  const rare = `${increases('release_total', durations.ticketWindow)} < ${floors.holds}`;
  // The gauge stays until the next release, perhaps for a day: it is news only while its exporter has just seen one.
  const perExporter = `${RESOURCE}, instance`;
  const released = `${increases('release_total', durations.eventWindow, perExporter)} > 0`;
  const news = `${bridged('last_hold_lease_ratio', durations.bridge)}\n  and on (${perExporter})\n  ${released}`;
  return {
    ...STATE,
    name: 'LastHoldNearLease',
    severity: 'warning',
    signal: 'event',
    expr: `max by (${RESOURCE}) (\n  ${news}\n) > ${limits.lastHoldNearLease}\nand\n${rare}`,
    keep: durations.eventKeep,
    summary: 'The last hold of a rare Redis lock took nearly its whole lease',
    says: 'the hold released last used {{ $value | humanizePercentage }} of its lease. The lock is too rare for a P99; each hold counts.',
  };
}

/** Either no grant for too long, or none at all although the exporter has been up for too long. */
function notAcquired({ durations, limits }: Thresholds, job: string): AlertSpec {
  const { pageWindow, policyWindow, bridge } = durations;
  const interval = bridged('resource_interval_seconds', bridge);
  const started = `max by (${INSTANCE}) (max_over_time(process_start_time_seconds{job="${job}"}[${duration(bridge)}]))`;
  return {
    ...STATE,
    name: 'NotAcquired',
    subject: 'schedule',
    severity: 'warning',
    expr: [
      '(',
      `  time() - max by (${RESOURCE}) (${bridged('last_acquired_timestamp_seconds', pageWindow)})`,
      '  or',
      `  max by (${RESOURCE}) (0 * ${interval} + on (${INSTANCE}) group_left () (time() - ${started}))`,
      ')',
      `> on (${RESOURCE}) (${limits.notAcquiredIntervals} * max by (${RESOURCE}) (${interval}))`,
      'and',
      policy('kind="cron"', policyWindow),
    ].join('\n'),
    pending: durations.notAcquiredFor,
    summary: 'A scheduled job has not taken its Redis lock within its interval',
    says: 'no grant for {{ $value | humanizeDuration }}, longer than the interval of its schedule: the job did not run, or ran without its lock.',
  };
}

/** Three signs of one fault, each a rule of its own: their values mean different things. */
function watchdogRunaway({ durations, limits, floors }: Thresholds): AlertSpec[] {
  const { eventWindow, eventKeep, ticketWindow, policyWindow, bridge } = durations;
  const noLeader = `unless\n${policy('kind="leader"', policyWindow)}`;
  const oldest = `max by (${RESOURCE}) (${bridged('oldest_hold_seconds', bridge)})`;
  const latestExpiry = `max by (${RESOURCE}) (${bridged('latest_expiry_timestamp_seconds', bridge)})`;
  const sampled = `max by (${STORE}) (${bridged('sample_timestamp_seconds', bridge)})`;
  const common = {
    ...STATE,
    name: 'WatchdogRunaway',
    subject: 'renewal',
    severity: 'warning',
    summary: 'A watchdog keeps a Redis lock alive without end',
  } as const;
  return [
    {
      ...common,
      signal: 'event',
      labels: { sign: 'max_hold' },
      expr: `${increases('lost_total{detected_by="max_hold"}', eventWindow)} > 0\n${noLeader}`,
      keep: eventKeep,
      says: `about {{ $value | printf "%.0f" }} holds within ${duration(eventWindow)} reached maxHoldMs and were given up by their client.`,
    },
    {
      ...common,
      labels: { sign: 'renewals' },
      expr: `${quantile(0.99, 'renewals_per_hold_bucket', ticketWindow)} > ${limits.renewalsPerHold}\nand\n${increases('renewals_per_hold_count', ticketWindow)} >= ${floors.holds}\n${noLeader}`,
      pending: durations.watchdogRunawayFor,
      says: 'the P99 of renewals per hold is {{ $value | printf "%.0f" }}; the default maxHoldMs allows 30.',
    },
    {
      ...common,
      labels: { sign: 'oldest_hold' },
      // A fixed lease near its end looks old against the time it has left; only a renewed one is a runaway.
      expr: `${oldest}\n>\n${limits.oldestHoldLeases} * clamp_min(${latestExpiry} - on (${STORE}) group_left () ${sampled}, 1)\nand\nmax by (${RESOURCE}) (increase(redis_lock_observed_renewals_total[${duration(ticketWindow)}])) > 0\n${noLeader}`,
      pending: durations.watchdogRunawayFor,
      says: `one holder has held the lock for {{ $value | humanizeDuration }}, more than ${limits.oldestHoldLeases} leases, and goes on renewing.`,
    },
  ];
}

function renewalFailures({ durations, limits, floors }: Thresholds): AlertSpec {
  const window = durations.ticketWindow;
  const failed = rates('renewal_failures_total', window);
  const renewed = rates('renewals_total', window);
  // Both are born together, with the first renewal of a resource.
  const tries = `(${renewed} + ${failed})`;
  const enough = `(${increases('renewals_total', window)} + ${increases('renewal_failures_total', window)})`;
  return {
    ...STATE,
    name: 'RenewalFailures',
    subject: 'renewal',
    severity: 'warning',
    expr: `${ratio(failed, tries)} > ${limits.renewalFailures}\nand\n${enough} >= ${floors.renewals}`,
    pending: durations.renewalFailuresFor,
    summary: 'Many renewals of a Redis lock fail',
    says: '{{ $value | humanizePercentage }} of the renewals failed or found the lock gone; each one brings a live hold closer to its end.',
  };
}
