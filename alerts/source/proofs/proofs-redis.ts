import { AT_RESOURCE, AT_STORE, counter, fault, gauge, type Line, ONSET } from './lines.js';
import { policyLine } from './policy-line.js';
import type { Proof } from './proof.js';

const WARNING = { severity: 'warning', page: 'false', signal: 'state' };
const SECOND = { instance: '10.0.0.2:9722' };
const IS_GAUGE = { traffic: 'it looks at a state, not at traffic' };

/** Alerts on what the sampler and the ledger see in Redis itself. */
export const REDIS_PROOFS: readonly Proof[] = [
  redisDown(),
  {
    ...redisDown(),
    alert: 'RedisWasDown',
    why: 'As RedisDown, but it goes on for 25 minutes after the first good sample in minute 85.',
    stillAt: 108,
    goneAt: 111,
    labels: { severity: 'info', page: 'false', signal: 'state', subject: 'redis' },
    says: 'no sample succeeded for 4m or longer, now or within the last 25m. Calls that failed meanwhile are still in the windows of other alerts.',
  },
  {
    alert: 'SampleStale',
    why: 'The last good sample was taken in minute 70; it is too old from minute 76 on, for 5 minutes.',
    lines: [gauge('redis_lock_sample_timestamp_seconds', AT_STORE, (now) => Math.min(now, ONSET) * 60)],
    notYet: 79,
    firesAt: 83,
    labels: { ...WARNING, subject: 'redis' },
    scope: 'store',
    says: 'the last good sample is 13m 0s old. Keys without expiry, orphans, ghosts and foreign locks are not watched.',
    silent: {
      'samples that are always five minutes old': [
        gauge('redis_lock_sample_timestamp_seconds', AT_STORE, (now) => (now - 5) * 60),
      ],
      'a second exporter samples on': [
        gauge('redis_lock_sample_timestamp_seconds', AT_STORE, (now) => Math.min(now, ONSET) * 60),
        gauge('redis_lock_sample_timestamp_seconds', { ...AT_STORE, ...SECOND }, (now) => now * 60),
      ],
    },
    skip: IS_GAUGE,
  },
  {
    alert: 'SampleTruncated',
    why: 'Truncated from minute 70 on.',
    lines: [gauge('redis_lock_sample_truncated', AT_STORE, fault(0, 1))],
    notYet: 83,
    firesAt: 86,
    labels: { ...WARNING, subject: 'redis' },
    scope: 'store',
    says: 'for a long time no sample looked at every key itself: the sweep runs into its budget. What it did not reach is not watched.',
    silent: {
      'truncated for ten minutes': [gauge('redis_lock_sample_truncated', AT_STORE, fault(0, 1, 80))],
    },
    skip: IS_GAUGE,
  },
  ...withoutExpiry(),
  {
    alert: 'OrphanKeys',
    why: 'One orphan from minute 70 on.',
    lines: [gauge('redis_lock_orphan_keys', AT_RESOURCE, fault(0, 1))],
    notYet: 78,
    firesAt: 81,
    labels: { ...WARNING, subject: 'expiry' },
    scope: 'resource',
    says: '1 keys belong to clients that have fallen silent. Nobody will release them; each blocks its lock until it expires.',
    silent: {
      'an orphan that expires within six minutes': [
        gauge('redis_lock_orphan_keys', AT_RESOURCE, fault(0, 1, 76)),
      ],
    },
    skip: IS_GAUGE,
  },
  {
    alert: 'ZombieRenewal',
    why: 'One renewal every minute from minute 70 on.',
    lines: [counter('redis_lock_zombie_renewals_total', AT_RESOURCE, fault(0, 1))],
    notYet: 78,
    firesAt: 81,
    labels: { ...WARNING, subject: 'renewal' },
    scope: 'resource',
    says: 'about 5 renewals within the last minutes for holders that had released the lock or said goodbye: a watchdog runs on and blocks the lock for ever.',
    silent: {
      'one renewal that crossed the release': [
        counter('redis_lock_zombie_renewals_total', AT_RESOURCE, fault(0, 1, 71)),
      ],
    },
  },
  {
    alert: 'ForeignExpired',
    why: '20 ends in an hour are the floor; 6 % of them were at the expiry.',
    lines: foreign(0.334, 0.02004),
    notYet: 130,
    firesAt: 140,
    labels: { ...WARNING, subject: 'foreign' },
    scope: 'resource',
    says: '6% of the locks that no client reports here ended at their expiry: their holders crashed, or worked on without the lock.',
    silent: {
      'exactly 5 %': foreign(100, 5),
      'all of 19 ends in the window': foreign(19 / 60, 19 / 60),
      'a cron lock is left to expire on purpose': [...foreign(10, 10), policyLine({ kind: 'cron' })],
      'a leader': [...foreign(10, 10), policyLine({ kind: 'leader' })],
    },
    alsoFires: {
      'a second exporter looks at the same Redis': [
        ...foreign(0.334, 0.02004),
        ...foreign(0.334, 0.02004).map((line) => ({ ...line, labels: { ...line.labels, ...SECOND } })),
      ],
    },
  },
  {
    alert: 'HotLockSaturated',
    why: 'One lock is held 81 % of the time.',
    lines: [busy(fault(0.2, 0.81))],
    notYet: 98,
    firesAt: 101,
    labels: { ...WARNING, subject: 'hot', lock: '0123456789abcdef' },
    scope: 'resource',
    says: 'lock 0123456789abcdef is held 81% of the time. Waits grow without bound as this comes near 100%.',
    silent: {
      'exactly 0.8': [busy(fault(0.2, 0.8))],
      'a leader is always held': [busy(() => 1), policyLine({ kind: 'leader' })],
    },
    skip: IS_GAUGE,
  },
  {
    alert: 'HotLockSkew',
    why: 'Five locks, 100 attempts, 61 of them at one.',
    lines: attempts([61, 10, 10, 10, 9]),
    notYet: 98,
    firesAt: 101,
    labels: { severity: 'info', page: 'false', signal: 'state', subject: 'hot' },
    scope: 'resource',
    says: 'one lock draws 61% of the attempts at the hot locks of this resource. Its neighbours are idle; a finer key would spread the load.',
    silent: {
      'exactly 60 of 100': attempts([60, 10, 10, 10, 10]),
      'four locks': attempts([910, 30, 30, 30]),
      '99 attempts': attempts([91, 2, 2, 2, 2]),
      'leader election': [...attempts([910, 1, 1, 1, 1]), policyLine({ kind: 'leader' })],
      'cron locks': [...attempts([910, 1, 1, 1, 1]), policyLine({ kind: 'cron' })],
    },
    skip: IS_GAUGE,
  },
];

function redisDown(): Proof {
  const up = (reason: string, value: (now: number) => number, more = {}) =>
    gauge('redis_lock_up', { ...AT_STORE, reason, ...more }, value);
  const back = 85;
  const during = (line: Line, there: (now: number) => boolean): Line => ({
    ...line,
    values: line.values.map((value, now) => (there(now) ? value : there(now - 1) ? 'stale' : '_')),
  });
  const isDown = (now: number) => now >= ONSET && now < back;
  const ok = during(
    up('ok', () => 1),
    (now) => !isDown(now),
  );
  const down = during(
    up('connection', () => 0),
    isDown,
  );
  return {
    alert: 'RedisDown',
    why: 'The last good sample was in minute 69; two minutes later nothing good is in the window, for 2 minutes. Good again from 85 on.',
    lines: [ok, down],
    notYet: 73,
    firesAt: 75,
    stillAt: back - 1,
    goneAt: back,
    labels: { severity: 'critical', page: 'true', signal: 'state', subject: 'redis' },
    scope: 'store',
    says: 'no sample succeeded for 4m or longer (connection): callers very likely get no locks, and held ones cannot be extended.',
    silent: {
      'every second sample fails': [up('ok', (now) => now % 2)],
      'one of two exporters cannot reach it': [up('connection', () => 0), up('ok', () => 1, SECOND)],
    },
    skip: IS_GAUGE,
  };
}

function withoutExpiry(): Proof[] {
  const endless = (value: (now: number) => number) =>
    gauge('redis_lock_keys_without_expiry', AT_RESOURCE, value);
  const common = {
    alert: 'WithoutExpiry',
    lines: [endless(fault(0, 1))],
    notYet: 73,
    firesAt: 76,
    scope: 'resource',
    skip: IS_GAUGE,
  } as const;
  const required = (page: 'true' | 'false'): Proof => ({
    ...common,
    variant: page === 'true' ? 'required' : 'required-no-page',
    why: 'The policy requires an expiry: one key without from minute 70 on.',
    lines: [endless(fault(0, 1)), policyLine({ expiry: 'required', page })],
    labels: { severity: 'critical', page, signal: 'state', subject: 'expiry' },
    says: '1 keys have no expiry, and the policy of this resource requires one.',
    silent: {
      'for three minutes': [endless(fault(0, 1, 73)), policyLine({ expiry: 'required', page })],
      'foreign keys without expiry where none is required': [
        endless(() => 5),
        gauge('redis_lock_foreign_keys', AT_RESOURCE, () => 5),
        policyLine({ page }),
      ],
    },
  });
  return [
    {
      ...common,
      why: 'One key without expiry from minute 70 on, in a resource without a foreign key.',
      labels: { ...WARNING, subject: 'expiry' },
      says: 'at least 1 keys of reporting clients have no expiry.',
      alsoFires: {
        'one more key without expiry than foreign keys': [
          endless(fault(5, 6)),
          gauge('redis_lock_foreign_keys', AT_RESOURCE, () => 5),
        ],
      },
      silent: {
        'for three minutes': [endless(fault(0, 1, 73))],
        'as many foreign keys: they may be meant to live for ever': [
          endless(() => 5),
          gauge('redis_lock_foreign_keys', AT_RESOURCE, () => 5),
        ],
      },
    },
    required('true'),
    required('false'),
  ];
}

function foreign(ends: number, expired: number): Line[] {
  return [
    counter('redis_lock_observed_expired_total', AT_RESOURCE, fault(0, expired)),
    counter('redis_lock_observed_released_total', AT_RESOURCE, fault(ends, ends - expired)),
  ];
}

function busy(value: (now: number) => number): Line {
  return gauge('redis_lock_hot_busy_ratio', { ...AT_RESOURCE, lock: '0123456789abcdef' }, value);
}

function attempts(counts: readonly number[]): Line[] {
  return counts.map((count, n) =>
    gauge('redis_lock_hot_attempts', { ...AT_RESOURCE, lock: `lock${n}` }, fault(0, count)),
  );
}
