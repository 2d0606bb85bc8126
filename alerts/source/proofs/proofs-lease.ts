import {
  AT_RESOURCE,
  AT_STORE,
  counter,
  fault,
  gauge,
  histogram,
  type Line,
  ONSET,
  once,
  TARGET,
} from './lines.js';
import { policyLine } from './policy-line.js';
import type { Proof } from './proof.js';

const SECOND = { instance: '10.0.0.2:9722' };
const FIXED = { ...AT_RESOURCE, renewed: 'false' };

/** `over` of the holds a minute take between 1.001 and 1.05 leases from the onset on, the rest half a lease. */
function overruns(perMinute: number, over: number, end?: number): Line[] {
  return histogram('redis_lock_hold_lease_ratio', FIXED, {
    '0.5': fault(perMinute, perMinute - over, end),
    '1.001': fault(perMinute, perMinute - over, end),
    '1.05': () => perMinute,
    '10': () => perMinute,
    '+Inf': () => perMinute,
  });
}

function beyondLease(page: 'true' | 'false'): Proof {
  const noPage = page === 'false' ? [policyLine({ page: 'false' })] : [];
  return {
    alert: 'HoldBeyondLease',
    ...(page === 'false' ? { variant: 'no-page' } : {}),
    why: 'Four holds a minute are the floor of 20; 2 % outlive the lease for 20 minutes: the P99 is in the middle of the bucket beyond it.',
    lines: [...overruns(4, 0.08, 90), ...noPage],
    notYet: 76,
    firesAt: 81,
    stillAt: 101,
    goneAt: 107,
    labels: { severity: 'critical', page, subject: 'lease', signal: 'state' },
    scope: 'resource',
    says: 'the P99 of hold time is 102.5% of the lease (locks without watchdog): the end of the work is not protected.',
    silent: {
      'every hold ends right at its lease': [
        ...histogram('redis_lock_hold_lease_ratio', FIXED, {
          '0.95': () => 0,
          '1.001': () => 100,
          '1.05': () => 100,
          '10': () => 100,
          '+Inf': () => 100,
        }),
        ...noPage,
      ],
      'all of 19 holds in the window': [...overruns(3.8, 3.8), ...noPage],
      'a watchdog holds for many leases': [
        ...histogram(
          'redis_lock_hold_lease_ratio',
          { ...AT_RESOURCE, renewed: 'true' },
          {
            '10': () => 0,
            '+Inf': () => 100,
          },
        ),
        ...noPage,
      ],
    },
  };
}

/** `high` of the observations a minute lie in (0.8, 0.9] from the onset on, the rest below a half. */
function nearly(family: string, labels: Record<string, string>, perMinute: number, high: number): Line[] {
  return histogram(family, labels, {
    '0.5': fault(perMinute, perMinute - high),
    '0.8': fault(perMinute, perMinute - high),
    '0.9': () => perMinute,
    '10': () => perMinute,
    '+Inf': () => perMinute,
  });
}

/** Every observation lies in the bucket that ends at the limit. */
function justBelow(family: string, labels: Record<string, string>): Line[] {
  return histogram(family, labels, { '0.7': () => 0, '0.8': () => 100, '0.9': () => 100, '+Inf': () => 100 });
}

const renewedHolds = (perMinute: number) =>
  histogram('redis_lock_renewals_per_hold', AT_RESOURCE, {
    '5': () => perMinute,
    '1000': () => perMinute,
    '+Inf': () => perMinute,
  });
const PEAK = 'redis_lock_lease_peak_use_ratio';
const WARNING = { severity: 'warning', page: 'false', signal: 'state' };

/** Alerts on leases that are too short for their work, or extended without end. */
export const LEASE_PROOFS: readonly Proof[] = [
  beyondLease('true'),
  beyondLease('false'),
  {
    alert: 'HoldNearLease',
    why: '20 holds in 15 minutes are the floor; 2 % use between 0.8 and 0.9 of the lease.',
    lines: nearly('redis_lock_hold_lease_ratio', FIXED, 1.334, 0.02668),
    notYet: 91,
    firesAt: 102,
    labels: { ...WARNING, subject: 'lease' },
    scope: 'resource',
    says: 'the P99 of hold time is 85% of the lease (locks without watchdog): one pause and the lock is lost.',
    silent: {
      'every hold takes 0.8 of its lease': justBelow('redis_lock_hold_lease_ratio', FIXED),
      'all of 19 holds in the window': nearly('redis_lock_hold_lease_ratio', FIXED, 1.266, 1.266),
      'locks with a watchdog': nearly(
        'redis_lock_hold_lease_ratio',
        { ...AT_RESOURCE, renewed: 'true' },
        100,
        50,
      ),
    },
  },
  {
    alert: 'LeaseNearlyUsedUp',
    why: '20 renewed holds in 15 minutes are the floor; 2 % use between 0.8 and 0.9 of a lease before it is extended.',
    lines: [...nearly(PEAK, AT_RESOURCE, 1.334, 0.02668), ...renewedHolds(1.334)],
    notYet: 91,
    firesAt: 102,
    labels: { ...WARNING, subject: 'lease' },
    scope: 'resource',
    says: 'the P99 of the largest share of a lease used before it was extended is 85%; a healthy watchdog shows about 35%.',
    silent: {
      'every hold uses 0.8': [...justBelow(PEAK, AT_RESOURCE), ...renewedHolds(100)],
      '19 renewed holds among many fixed ones': [
        ...nearly(PEAK, AT_RESOURCE, 100, 50),
        ...renewedHolds(1.266),
      ],
      'no hold is ever renewed': nearly(PEAK, AT_RESOURCE, 100, 50),
    },
  },
  {
    alert: 'LastHoldNearLease',
    why: 'A hold of 0.81 leases of a lock that is held 19 times in 15 minutes: one more, and the P99 would judge it.',
    lines: [
      gauge('redis_lock_last_hold_lease_ratio', AT_RESOURCE, fault(0.3, 0.81, 90)),
      counter('redis_lock_release_total', AT_RESOURCE, () => 1.266),
    ],
    notYet: 69,
    firesAt: 70,
    stillAt: 104,
    goneAt: 109,
    labels: { ...WARNING, subject: 'lease', signal: 'event' },
    scope: 'resource',
    says: 'the hold released last used 81% of its lease. The lock is too rare for a P99; each hold counts.',
    silent: {
      'exactly 0.8': [
        gauge('redis_lock_last_hold_lease_ratio', AT_RESOURCE, fault(0.3, 0.8)),
        counter('redis_lock_release_total', AT_RESOURCE, once()),
      ],
      'a busy lock: the P99 judges it': [
        gauge('redis_lock_last_hold_lease_ratio', AT_RESOURCE, fault(0.3, 0.95)),
        counter('redis_lock_release_total', AT_RESOURCE, () => 1.334),
      ],
      'an old hold at one exporter, and new ones at another': [
        gauge('redis_lock_last_hold_lease_ratio', AT_RESOURCE, () => 0.95),
        counter('redis_lock_release_total', AT_RESOURCE, () => 0),
        gauge('redis_lock_last_hold_lease_ratio', { ...AT_RESOURCE, ...SECOND }, () => 0.3),
        counter('redis_lock_release_total', { ...AT_RESOURCE, ...SECOND }, once()),
      ],
    },
    alsoFires: {
      'one hold a day': [
        gauge('redis_lock_last_hold_lease_ratio', AT_RESOURCE, fault(0.3, 0.95)),
        counter('redis_lock_release_total', AT_RESOURCE, once()),
      ],
    },
  },
  ...notAcquired(),
  ...watchdogRunaway(),
  {
    alert: 'RenewalFailures',
    why: '20 renewals in 15 minutes are the floor; 6 % of them fail.',
    lines: renewals(1.334, 0.08004),
    notYet: 91,
    firesAt: 96,
    labels: { ...WARNING, subject: 'renewal' },
    scope: 'resource',
    says: '6% of the renewals failed or found the lock gone; each one brings a live hold closer to its end.',
    silent: {
      'exactly 5 %': renewals(100, 5),
      'all of 19 renewals in the window': renewals(1.266, 1.266),
    },
  },
];

function renewals(perMinute: number, failed: number): Line[] {
  return [
    counter('redis_lock_renewals_total', AT_RESOURCE, fault(perMinute, perMinute - failed)),
    counter('redis_lock_renewal_failures_total', { ...AT_RESOURCE, reason: 'connection' }, fault(0, failed)),
  ];
}

/** A job of every 40 minutes: 1.25 intervals are 50. */
function notAcquired(): Proof[] {
  const interval = gauge('redis_lock_resource_interval_seconds', AT_RESOURCE, () => 2400);
  const cron = [interval, policyLine({ kind: 'cron' })];
  const lastAt = (minute: number) =>
    gauge('redis_lock_last_acquired_timestamp_seconds', AT_RESOURCE, (now) => Math.min(now, minute) * 60);
  const started = gauge('process_start_time_seconds', TARGET, () => 1200);
  const common = {
    alert: 'NotAcquired',
    labels: { ...WARNING, subject: 'schedule' },
    scope: 'resource',
    skip: { traffic: 'without traffic it must fire', restart: 'proven by its own case' },
  } as const;
  return [
    {
      ...common,
      why: 'An interval of 40 minutes, the last grant in minute 70: overdue from minute 120 on, for 5 minutes.',
      lines: [lastAt(ONSET), ...cron],
      notYet: 125,
      firesAt: 127,
      says: 'no grant for 57m 0s, longer than the interval of its schedule: the job did not run, or ran without its lock.',
      silent: {
        'granted again after 49 minutes': [
          gauge(
            'redis_lock_last_acquired_timestamp_seconds',
            AT_RESOURCE,
            (now) => (now < 119 ? 70 : 119) * 60,
          ),
          ...cron,
        ].map((line) => line),
        'no cron job': [lastAt(ONSET), interval, policyLine({ kind: 'mutex' })],
      },
      alsoFires: {
        'another pod heard of a grant long ago': [
          lastAt(ONSET),
          { ...lastAt(20), labels: { ...AT_RESOURCE, instance: '10.0.0.2:9722' } },
          ...cron,
        ],
      },
    },
    {
      ...common,
      variant: 'never',
      why: 'The exporter started in minute 20 and has heard of no grant since: overdue from minute 70 on.',
      lines: [started, ...cron],
      notYet: 75,
      firesAt: 77,
      says: 'no grant for 57m 0s, longer than the interval of its schedule: the job did not run, or ran without its lock.',
      alsoFires: {
        'another exporter started a minute ago': [
          started,
          {
            ...gauge('process_start_time_seconds', TARGET, (now) => (now - 1) * 60),
            labels: { ...TARGET, instance: '10.0.0.2:9722' },
          },
          ...cron,
        ],
      },
      silent: {
        'the start of another job is none of ours': [
          { ...started, labels: { ...TARGET, job: 'node' } },
          ...cron,
        ],
        'the exporter was restarted in time': [
          gauge('process_start_time_seconds', TARGET, (now) => (now < 60 ? 1200 : now < 100 ? 3600 : 6000)),
          ...cron,
        ],
      },
    },
  ];
}

function watchdogRunaway(): Proof[] {
  const common = { alert: 'WatchdogRunaway', scope: 'resource' } as const;
  const labels = { ...WARNING, subject: 'renewal' };
  const leader = policyLine({ kind: 'leader' });
  const maxHold = counter('redis_lock_lost_total', { ...AT_RESOURCE, detected_by: 'max_hold' }, once());
  const longHolds = (perMinute: number, long: number) =>
    histogram('redis_lock_renewals_per_hold', AT_RESOURCE, {
      '50': fault(perMinute, perMinute - long),
      '100': fault(perMinute, perMinute - long),
      '300': () => perMinute,
      '1000': () => perMinute,
      '+Inf': () => perMinute,
    });
  return [
    {
      ...common,
      variant: 'max-hold',
      why: 'One hold that reached maxHoldMs.',
      lines: [maxHold],
      notYet: 69,
      firesAt: 70,
      stillAt: 97,
      goneAt: 101,
      labels: { ...labels, signal: 'event', sign: 'max_hold' },
      says: 'about 1 holds within 15m reached maxHoldMs and were given up by their client.',
      silent: {
        'a leader': [maxHold, leader],
        'a loss that was not its plan': [
          counter('redis_lock_lost_total', { ...AT_RESOURCE, detected_by: 'deadline' }, once()),
        ],
      },
    },
    {
      ...common,
      variant: 'renewals',
      why: '20 renewed holds in 15 minutes are the floor; 2 % were renewed 100 to 300 times.',
      lines: longHolds(1.334, 0.02668),
      notYet: 86,
      firesAt: 97,
      labels: { ...labels, sign: 'renewals' },
      says: 'the P99 of renewals per hold is 200; the default maxHoldMs allows 30.',
      silent: {
        'every hold was renewed nearly 100 times': histogram('redis_lock_renewals_per_hold', AT_RESOURCE, {
          '50': () => 0,
          '100': () => 100,
          '300': () => 100,
          '+Inf': () => 100,
        }),
        'all of 19 holds in the window': longHolds(1.266, 1.266),
        'a leader': [...longHolds(100, 100), leader],
      },
    },
    oldestHold({ ...common, labels: { ...labels, sign: 'oldest_hold' } }, leader),
  ];
}

/** Leases of 60 s: a hold of 30 minutes is the limit. */
function oldestHold(common: Pick<Proof, 'alert' | 'scope' | 'labels'>, leader: Line): Proof {
  const oldest = (limitAt: number) =>
    gauge('redis_lock_oldest_hold_seconds', AT_RESOURCE, (now) => Math.max(0, now - limitAt + 30) * 60);
  const expiry = gauge('redis_lock_latest_expiry_timestamp_seconds', AT_RESOURCE, (now) => (now + 1) * 60);
  const sampled = gauge('redis_lock_sample_timestamp_seconds', AT_STORE, (now) => now * 60);
  const renewed = (perMinute: number) =>
    counter('redis_lock_observed_renewals_total', AT_RESOURCE, () => perMinute);
  return {
    ...common,
    variant: 'oldest-hold',
    why: 'A lease of one minute, renewed and renewed: older than 30 leases after minute 70, for 10 minutes.',
    lines: [oldest(ONSET), expiry, sampled, renewed(3)],
    notYet: 79,
    firesAt: 82,
    says: 'one holder has held the lock for 42m 0s, more than 30 leases, and goes on renewing.',
    silent: {
      'a fixed lease near its end': [oldest(ONSET), expiry, sampled, renewed(0)],
      '29 leases': [
        gauge('redis_lock_oldest_hold_seconds', AT_RESOURCE, () => 29 * 60),
        expiry,
        sampled,
        renewed(3),
      ],
      'a leader': [oldest(ONSET), expiry, sampled, renewed(3), leader],
    },
    skip: { traffic: 'without renewals it is the first silent case' },
  };
}
