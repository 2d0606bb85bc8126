import { bridged, duration, increases, policy, RESOURCE, STORE } from './promql.js';
import type { AlertSpec } from './rule.js';
import type { Thresholds } from './thresholds.js';

/** Alerts on what the sampler and the ledger see in Redis itself. */
export function redisAlerts(thresholds: Thresholds): AlertSpec[] {
  return [
    ...storeAlerts(thresholds),
    ...withoutExpiry(thresholds),
    ...strayKeys(thresholds),
    foreignExpired(thresholds),
    ...hotLocks(thresholds),
  ];
}

function storeAlerts({ durations }: Thresholds): AlertSpec[] {
  const { bridge, sampleAge } = durations;
  const state = { subject: 'redis', signal: 'state', scope: 'store' } as const;
  const down = `max by (${STORE}) (${bridged('up', bridge)}) == 0`;
  return [
    {
      ...state,
      name: 'RedisDown',
      severity: 'critical',
      expr: down,
      pending: durations.redisDownFor,
      summary: 'No exporter can read Redis',
      says: `no sample succeeded for ${duration(bridge + durations.redisDownFor)} or longer ({{ range $i, $s := query (printf "group by (reason) (redis_lock_up{job=%q,store=%q} == 0)" $labels.job $labels.store) }}{{ if $i }}, {{ end }}{{ $s.Labels.reason }}{{ end }}): callers very likely get no locks, and held ones cannot be extended.`,
    },
    {
      ...state,
      // Tells nobody. RedisDown ends at once, so that the next outage pages; this mutes what the last one left behind.
      name: 'RedisWasDown',
      severity: 'info',
      expr: down,
      pending: durations.redisDownFor,
      keep: durations.redisWasDownKeep,
      summary: 'Redis was down a moment ago: alerts on what that left behind are muted',
      says: `no sample succeeded for ${duration(bridge + durations.redisDownFor)} or longer, now or within the last ${duration(durations.redisWasDownKeep)}. Calls that failed meanwhile are still in the windows of other alerts.`,
    },
    {
      ...state,
      name: 'SampleStale',
      severity: 'warning',
      expr: `time() - max by (${STORE}) (${bridged('sample_timestamp_seconds', durations.pageWindow)}) > ${sampleAge}`,
      pending: durations.sampleStaleFor,
      summary: 'The last look at the locks in Redis is old',
      says: 'the last good sample is {{ $value | humanizeDuration }} old. Keys without expiry, orphans, ghosts and foreign locks are not watched.',
    },
    {
      ...state,
      name: 'SampleTruncated',
      severity: 'warning',
      expr: `max by (${STORE}) (${bridged('sample_truncated', bridge)}) > 0`,
      pending: durations.sampleTruncatedFor,
      summary: 'Samples of Redis do not reach every lock',
      says: 'for a long time no sample looked at every key itself: the sweep runs into its budget. What it did not reach is not watched.',
    },
  ];
}

function withoutExpiry({ durations }: Thresholds): AlertSpec[] {
  const { bridge, policyWindow } = durations;
  const endless = `max by (${RESOURCE}) (${bridged('keys_without_expiry', bridge)})`;
  const foreign = `max by (${RESOURCE}) (${bridged('foreign_keys', bridge)})`;
  const common = {
    name: 'WithoutExpiry',
    subject: 'expiry',
    signal: 'state',
    scope: 'resource',
    pending: durations.withoutExpiryFor,
    summary: 'A Redis lock has no expiry: if its holder dies, it is held for ever',
  } as const;
  return [
    {
      ...common,
      severity: 'critical',
      expr: `${endless} > 0\nand\n${policy('expiry="required"', policyWindow)}`,
      says: '{{ $value | printf "%.0f" }} keys have no expiry, and the policy of this resource requires one.',
    },
    {
      ...common,
      severity: 'warning',
      // Locks of other libraries may be meant to live for ever: for them, the policy has to ask.
      expr: `${endless} - (${foreign} or 0 * ${endless}) > 0\nunless\n${policy('expiry="required"', policyWindow)}`,
      says: 'at least {{ $value | printf "%.0f" }} keys of reporting clients have no expiry.',
    },
  ];
}

function strayKeys({ durations }: Thresholds): AlertSpec[] {
  const common = { subject: 'expiry', signal: 'state', scope: 'resource', severity: 'warning' } as const;
  return [
    {
      ...common,
      name: 'OrphanKeys',
      expr: `sum by (${RESOURCE}) (${bridged('orphan_keys', durations.bridge)}) > 0`,
      pending: durations.orphanKeysFor,
      summary: 'Redis holds locks of clients that are gone',
      says: '{{ $value | printf "%.0f" }} keys belong to clients that have fallen silent. Nobody will release them; each blocks its lock until it expires.',
    },
    {
      ...common,
      name: 'ZombieRenewal',
      subject: 'renewal',
      expr: `${increases('zombie_renewals_total', durations.zombieWindow)} > 0`,
      pending: durations.zombieRenewalFor,
      summary: 'A Redis lock is renewed although its holder released it',
      says: 'about {{ $value | printf "%.0f" }} renewals within the last minutes for holders that had released the lock or said goodbye: a watchdog runs on and blocks the lock for ever.',
    },
  ];
}

function foreignExpired({ durations, limits, floors }: Thresholds): AlertSpec {
  const { foreignWindow, policyWindow } = durations;
  // Sampled: exporters that look at one Redis see the same keys, so the largest counts, not the sum.
  const ends = (how: string, fn: string) =>
    `max by (${RESOURCE}) (${fn}(redis_lock_observed_${how}_total[${duration(foreignWindow)}]))`;
  const expired = ends('expired', 'rate');
  // Both are born with the store's first sample of the resource, so that neither side of the sum is missing.
  const all = (fn: string) => `(${ends('expired', fn)} + ${ends('released', fn)})`;
  return {
    name: 'ForeignExpired',
    severity: 'warning',
    subject: 'foreign',
    signal: 'state',
    scope: 'resource',
    expr: [
      `(\n  ${expired}\n  or\n  0 * ${all('rate')}\n)\n/\n(${all('rate')} > 0) > ${limits.foreignExpired}`,
      'and',
      `${all('increase')} >= ${floors.foreignEnds}`,
      'unless',
      policy('kind=~"leader|cron"', policyWindow),
    ].join('\n'),
    pending: durations.foreignExpiredFor,
    summary: 'Locks of another library end at their expiry, not by a release',
    says: '{{ $value | humanizePercentage }} of the locks that no client reports here ended at their expiry: their holders crashed, or worked on without the lock.',
  };
}

function hotLocks({ durations, limits, floors }: Thresholds): AlertSpec[] {
  const { bridge, policyWindow } = durations;
  const perLock = (gauge: string) => `sum by (${RESOURCE}, lock) (${bridged(gauge, bridge)})`;
  const attempts = `sum by (${RESOURCE}) (${bridged('hot_attempts', bridge)})`;
  const common = { subject: 'hot', signal: 'state', scope: 'resource' } as const;
  return [
    {
      ...common,
      name: 'HotLockSaturated',
      severity: 'warning',
      expr: `${perLock('hot_busy_ratio')} > ${limits.hotLockBusy}\nunless\n${policy('kind="leader"', policyWindow)}`,
      pending: durations.hotLockSaturatedFor,
      summary: 'One Redis lock is held nearly all the time',
      says: 'lock {{ $labels.lock }} is held {{ $value | humanizePercentage }} of the time. Waits grow without bound as this comes near 100%.',
    },
    {
      ...common,
      name: 'HotLockSkew',
      severity: 'info',
      expr: [
        `max by (${RESOURCE}) (${perLock('hot_attempts')})\n/\n(${attempts} > 0) > ${limits.hotLockSkew}`,
        'and',
        `count by (${RESOURCE}) (${perLock('hot_attempts')}) >= ${floors.hotLocks}`,
        'and',
        `${attempts} >= ${floors.hotAttempts}`,
        'unless',
        policy('kind=~"leader|cron"', policyWindow),
      ].join('\n'),
      pending: durations.hotLockSkewFor,
      summary: 'One Redis lock draws most of the attempts',
      says: 'one lock draws {{ $value | humanizePercentage }} of the attempts at the hot locks of this resource. Its neighbours are idle; a finer key would spread the load.',
    },
  ];
}
