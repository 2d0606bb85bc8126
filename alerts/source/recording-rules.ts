import { duration, JOB, orZero, quantile, RESOURCE, rates, STORE } from './promql.js';
import type { RecordingRule, RuleGroup, RuleOptions } from './rule.js';

const PAGE_WINDOW = 5 * 60;
const HOUR = 60 * 60;
const HOURS_A_DAY = 24;
const NO_FAILURE = 'reason!~"contended|signal|shed|closed"';

/** Rules for dashboards, in one group: what many panels ask for, worked out once. No alert depends on them. */
export function recordingRules({ job }: RuleOptions): RuleGroup<RecordingRule> {
  const rules = [
    ...failureRules(),
    ...eventRules(),
    ...leaseRules(),
    {
      record: 'job:redis_lock_samples:sum',
      expr: `sum by (${JOB}) (scrape_samples_post_metric_relabeling{job="${job}"})`,
    },
  ];
  return { name: 'redis-lock-recording', rules };
}

function failureRules(): RecordingRule[] {
  const levels = [
    ['resource_mode', `${RESOURCE}, mode`],
    ['resource', RESOURCE],
    ['store', STORE],
    ['job', JOB],
  ] as const;
  return levels.map(([level, by]) => ({
    record: `${level}:redis_lock_acquire_failures:ratio_rate5m`,
    expr: failureRatio(by),
  }));
}

/** Here, unlike in the alerts, a quiet resource has no value, and one without failures is 0. */
function failureRatio(by: string): string {
  const failures = rates(`acquire_failures_total{${NO_FAILURE}}`, PAGE_WINDOW, by);
  const calls = rates('acquire_total', PAGE_WINDOW, by);
  return `(\n  ${orZero(failures, calls).replaceAll('\n', '\n  ')}\n)\n/\n(${calls} > 0)`;
}

function eventRules(): RecordingRule[] {
  const increase = (family: string) => ({
    record: `resource:redis_lock_${family}:increase15m`,
    expr: `sum by (${RESOURCE}) (increase(redis_lock_${family}_total[15m]))`,
  });
  return [
    increase('lost'),
    increase('overlaps'),
    increase('release_not_owned'),
    {
      record: 'resource:redis_lock_acquire:rate5m',
      expr: rates('acquire_total', PAGE_WINDOW),
    },
  ];
}

function leaseRules(): RecordingRule[] {
  const p99 = (name: string, selector: string) => ({
    record: `resource:redis_lock_${name}:p99_rate5m`,
    expr: quantile(0.99, selector, PAGE_WINDOW),
  });
  const mean = (family: string) =>
    `${rates(`${family}_sum`, PAGE_WINDOW)}\n/\n(${rates(`${family}_count`, PAGE_WINDOW)} > 0)`;
  return [
    p99('acquire_wait_seconds', 'acquire_wait_seconds_bucket'),
    p99('hold_seconds', 'hold_seconds_bucket'),
    p99('hold_lease_ratio', 'hold_lease_ratio_bucket{renewed="false"}'),
    p99('lease_peak_use_ratio', 'lease_peak_use_ratio_bucket'),
    { record: 'resource:redis_lock_renewals:rate5m', expr: rates('renewals_total', PAGE_WINDOW) },
    { record: 'resource:redis_lock_renewals_per_hold:mean5m', expr: mean('renewals_per_hold') },
    // Seconds held per second: of a resource with one lock its busy share, else the mean number of locks held.
    { record: 'resource:redis_lock_busy:share_rate5m', expr: rates('hold_seconds_sum', PAGE_WINDOW) },
  ];
}

/**
 * What a quarterly review asks for, kept as a few series a day longer than raw data is. Evaluated once an hour: the
 * hourly rules come first, the daily ones add them up, so that none reads a day of raw samples. Query them with
 * `last_over_time(…[2h])`.
 * @param hour seconds that an hour takes here; a live proof has shorter ones, and days of 24 of them
 */
export function dailyRules(hour = HOUR): RuleGroup<RecordingRule> {
  const day = duration(HOURS_A_DAY * hour);
  const hourly = (family: string, counter: string, level = 'resource', by = RESOURCE) => ({
    record: `${level}:redis_lock_${family}:increase1h`,
    expr: `sum by (${by}) (increase(redis_lock_${counter}[${duration(hour)}]))`,
  });
  const daily = (family: string) => ({
    record: `resource:redis_lock_${family}:increase1d`,
    expr: `sum_over_time(resource:redis_lock_${family}:increase1h[${day}])`,
  });
  const counters = ['acquire', 'lost', 'overlaps', 'release'];
  const rules = [
    ...counters.flatMap((family) => [hourly(family, `${family}_total`), daily(family)]),
    hourly('hold_seconds_bucket', 'hold_seconds_bucket', 'resource_le', `${RESOURCE}, le`),
    {
      record: 'resource:redis_lock_hold_seconds:p99_1d',
      expr: `histogram_quantile(0.99, sum_over_time(resource_le:redis_lock_hold_seconds_bucket:increase1h[${day}]))`,
    },
    ...peakHours(hour, day),
  ];
  return { name: 'redis-lock-daily', interval: duration(hour), rules };
}

function peakHours(hour: number, day: string): RecordingRule[] {
  const peak = (name: string, expr: string) => [
    { record: `resource:redis_lock_${name}:avg1h`, expr },
    {
      record: `resource:redis_lock_${name}:peak_hour1d`,
      expr: `max_over_time(resource:redis_lock_${name}:avg1h[${day}])`,
    },
  ];
  const busyLock = `max by (${RESOURCE}) (\n  sum by (${RESOURCE}, lock) (avg_over_time(redis_lock_hot_busy_ratio[${duration(hour)}]))\n)`;
  return [...peak('busy', rates('hold_seconds_sum', hour)), ...peak('hot_busy_ratio', busyLock)];
}
