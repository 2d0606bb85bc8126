import { among, attempts, FIXED_LEASE } from './common-queries.js';
import { BY_RESOURCE, increaseShown, maxBy, quantileShown, rate, share, sumBy } from './expressions.js';
import { RESOURCE_LINK } from './links.js';
import { counts, family, recorded, sums } from './metrics.js';
import type { DashboardSource, Section, Steps } from './panel-source.js';
import { timeseries } from './panels.js';
import { table } from './table-panel.js';

const NO_TRAFFIC = 'No traffic';
const NO_DAILY_RULES = 'No days yet, or the daily recording rules are not loaded';
const NAMED = '{{store}} {{resource}}';

/** Above 0.8 the wait is five times the hold and rises steeply. */
const BUSY: Steps = [
  [0.7, 'orange'],
  [0.8, 'red'],
];
const LEASE_USE: Steps = [
  [0.8, 'orange'],
  [1, 'red'],
];
/** Fewer holds than this say little about their 99th percentile. */
const SAMPLE_SIZE: Steps = [[1000, 'green']];

const ROWS = 50;

/** What to look at once a quarter: hot locks, headroom, growth, leases. */
export function capacityReview(): DashboardSource {
  return {
    uid: 'redis-lock-capacity',
    description:
      'For the review: which locks are busy, how much waiting that costs, how fast it grows, how much headroom is left, and whether leases fit what was measured.',
    from: 'now-7d',
    refresh: '',
    sections: [busy(), growth(), hot(), leases(), quarter()],
  };
}

/** Share of time that a lock of the resource was held; a resource of several locks may go above 1. */
function busyShare(): string {
  return sumBy(BY_RESOURCE, rate(sums('hold_seconds')));
}

function busy(): Section {
  const unmet = 'reason=~"contended|wait_limit|deadline"';
  const byResource = sumBy(BY_RESOURCE, rate(family('acquire_total')));
  const total = sumBy(['store'], byResource);
  return {
    title: 'How busy are they?',
    panels: [
      timeseries({
        title: 'Busy ratio by resource',
        description:
          'Good: below 70 % for a resource that is one lock. Share of time a lock of it was held; 250 % is two and a half locks held at once. Near 100 % of its number of locks it is a queue: split the lock, or shorten the work.',
        noData: NO_TRAFFIC,
        unit: 'percentunit',
        width: 12,
        limits: true,
        steps: BUSY,
        queries: [{ legend: NAMED, expr: busyShare() }],
      }),
      timeseries({
        title: 'Wait amplification',
        description:
          'Good: below 3 ×. 1 ÷ (1 − busy): how many holds a caller waits for on average, for a resource that is one lock and for the hottest lock. Capped at 100 ×.',
        noData: NO_TRAFFIC,
        unit: 'suffix:×',
        width: 12,
        queries: [
          { legend: `${NAMED} as one lock`, expr: `1 / (1 - clamp_max(${busyShare()}, 0.99))` },
          {
            legend: `${NAMED} hottest lock`,
            expr: `1 / (1 - clamp_max(${maxBy(BY_RESOURCE, family('hot_busy_ratio'))}, 0.99))`,
            due: 'minutes',
          },
        ],
      }),
      timeseries({
        title: 'Contention by resource',
        description:
          'Good: low and steady. Share of acquires that met a holder and went without the lock. Rising with steady traffic: holds get longer. Near 100 % is by design for leader election and cron jobs.',
        noData: NO_TRAFFIC,
        unit: 'percentunit',
        width: 12,
        queries: [
          {
            legend: NAMED,
            expr: share(
              sumBy(BY_RESOURCE, rate(family('acquire_failures_total', unmet))),
              attempts(BY_RESOURCE),
            ),
          },
        ],
      }),
      timeseries({
        title: 'Skew',
        description:
          'Good: below 60 % with five resources or more. Share of a store’s acquires that go to its busiest resource or, of its ten hottest locks, to the hottest: the one to split first.',
        noData: NO_TRAFFIC,
        unit: 'percentunit',
        width: 12,
        queries: [
          {
            legend: '{{store}} busiest resource',
            expr: `${maxBy(['store'], byResource)} / (${total} > 0)`,
          },
          {
            legend: '{{store}} hottest lock',
            expr: `${maxBy(['store'], family('hot_attempts'))} / (${sumBy(['store'], family('hot_attempts'))} > 0)`,
            due: 'minutes',
          },
        ],
      }),
    ],
  };
}

function growth(): Section {
  const now = `increase(${family('acquire_total')}[7d])`;
  const busiest = `max_over_time(${recorded('resource:redis_lock_busy:share_rate5m')}[$__range])`;
  const before = `increase(${family('acquire_total')}[7d] offset 7d)`;
  return {
    title: 'How fast does it grow?',
    panels: [
      timeseries({
        title: 'Acquires, now and a week before',
        description:
          'Good: the same shape, slightly higher. Compare the same hours of the week; a new peak that the week before lacks needs an owner.',
        noData: NO_TRAFFIC,
        unit: 'ops',
        width: 12,
        queries: [
          { legend: 'now', expr: sumBy([], rate(family('acquire_total'))) },
          {
            legend: 'a week before',
            expr: sumBy([], `rate(${family('acquire_total')}[$__rate_interval] offset 7d)`),
            due: 'weeks',
          },
        ],
      }),
      table({
        title: 'Growth by resource',
        description:
          'Good: in step with the business. The last seven days against the seven before, whatever time is shown. Headroom is what the busiest five minutes of the time shown left of a resource that is one lock: with 30 % left, 1.4 × more is all there is.',
        noData: NO_TRAFFIC,
        width: 12,
        height: 8,
        rows: BY_RESOURCE,
        sortBy: 'Acquires in 7 days',
        link: RESOURCE_LINK,
        columns: [
          { title: 'Acquires in 7 days', unit: 'short', decimals: 0, expr: sumBy(BY_RESOURCE, now) },
          {
            title: 'In the 7 days before',
            unit: 'short',
            decimals: 0,
            expr: sumBy(BY_RESOURCE, before),
            due: 'weeks',
          },
          {
            title: 'Growth',
            unit: 'suffix:×',
            decimals: 2,
            expr: `${sumBy(BY_RESOURCE, now)} / (${sumBy(BY_RESOURCE, before)} > 0)`,
            due: 'weeks',
          },
          {
            title: 'Headroom',
            unit: 'percentunit',
            decimals: 0,
            expr: `1 - clamp_max(${maxBy(BY_RESOURCE, busiest)}, 1)`,
          },
        ],
      }),
    ],
  };
}

function hot(): Section {
  const byLock = [...BY_RESOURCE, 'lock'];
  const busiest = maxBy(byLock, family('hot_busy_ratio'));
  return {
    title: 'Which single locks are hot?',
    panels: [
      table({
        title: 'Hot locks',
        description:
          'Good: busy below 70 %. The busiest single locks by their id (see the exporter’s page for their keys). Headroom is what is left of their time: at 0 more callers only wait longer. Split the key, or shorten the work under it.',
        noData: 'No hot lock: there are some after a full minute of traffic',
        width: 24,
        rows: byLock,
        sortBy: 'Busy',
        link: RESOURCE_LINK,
        columns: [
          {
            title: 'Busy',
            unit: 'percentunit',
            decimals: 1,
            steps: BUSY,
            expr: busiest,
            due: 'minutes',
          },
          {
            title: 'Headroom',
            unit: 'percentunit',
            decimals: 1,
            expr: `1 - clamp_max(${busiest}, 1)`,
            due: 'minutes',
          },
          {
            title: 'Attempts',
            unit: 'short',
            decimals: 0,
            expr: sumBy(byLock, family('hot_attempts')),
            due: 'minutes',
          },
          {
            title: 'Contended',
            unit: 'percentunit',
            decimals: 1,
            expr: maxBy(byLock, family('hot_contended_ratio')),
            due: 'minutes',
          },
          {
            title: 'Mean hold',
            unit: 's',
            expr: maxBy(byLock, family('hot_hold_seconds')),
            due: 'minutes',
          },
        ],
      }),
    ],
  };
}

function leases(): Section {
  const holds = sumBy(BY_RESOURCE, increaseShown(counts('hold_seconds')));
  const top = among(ROWS, holds);
  return {
    title: 'Do the leases fit?',
    panels: [
      table({
        title: 'Lease against measured P99',
        description:
          'Good: hold ÷ lease and peak use between 20 % and 80 %, from a thousand holds or more (green). Above: lengthen the lease. Far below: a crashed holder blocks others for longer than it need. 1000 % is the largest bucket and may be anything above.',
        noData: NO_TRAFFIC,
        width: 24,
        rows: BY_RESOURCE,
        sortBy: 'Hold P99 ÷ lease',
        link: RESOURCE_LINK,
        columns: [
          {
            title: 'Holds measured',
            unit: 'short',
            decimals: 0,
            steps: SAMPLE_SIZE,
            base: 'yellow',
            expr: `topk(${ROWS}, ${holds}) > 0`,
          },
          {
            title: 'Hold P99',
            unit: 's',
            expr: `${quantileShown(0.99, 'hold_seconds', BY_RESOURCE)} ${top}`,
          },
          {
            title: 'Hold P99 ÷ lease',
            unit: 'percentunit',
            steps: LEASE_USE,
            expr: `${quantileShown(0.99, 'hold_lease_ratio', BY_RESOURCE, FIXED_LEASE)} ${top}`,
          },
          {
            title: 'Peak use P99',
            unit: 'percentunit',
            steps: LEASE_USE,
            expr: `${quantileShown(0.99, 'lease_peak_use_ratio', BY_RESOURCE)} ${top}`,
          },
          {
            title: 'Wait P99',
            unit: 's',
            expr: `${quantileShown(0.99, 'acquire_wait_seconds', BY_RESOURCE)} ${top}`,
          },
        ],
      }),
    ],
  };
}

/** What the daily rules keep is a sample an hour, which is too old for a plain look between two of them. */
function daily(name: `resource:${string}`): string {
  return `last_over_time(${recorded(name)}[2h])`;
}

function quarter(): Section {
  const shown = { width: 12, timeFrom: '90d', noData: NO_DAILY_RULES } as const;
  const line = (legend: string, expr: string) => [{ legend, expr, due: 'daily' as const }];
  const peak = maxBy(BY_RESOURCE, daily('resource:redis_lock_busy:peak_hour1d'));
  const hottest = maxBy(BY_RESOURCE, daily('resource:redis_lock_hot_busy_ratio:peak_hour1d'));
  return {
    title: 'The last 90 days',
    panels: [
      timeseries({
        ...shown,
        title: 'Busy ratio in the peak hour of each day',
        description:
          'Good: flat, and below 70 % for a resource that is one lock. Where the trend meets 100 % is when the lock is full: plan the split before.',
        unit: 'percentunit',
        limits: true,
        steps: BUSY,
        queries: line(NAMED, peak),
      }),
      timeseries({
        ...shown,
        title: 'Headroom in the peak hour of each day',
        description:
          'Good: above 30 %. What was left of the time of a resource that is one lock, and of the hottest single lock. 0: callers only wait longer from there on.',
        unit: 'percentunit',
        queries: [
          ...line(`${NAMED} as one lock`, `1 - clamp_max(${peak}, 1)`),
          ...line(`${NAMED} hottest lock`, `1 - clamp_max(${hottest}, 1)`),
        ],
      }),
      timeseries({
        ...shown,
        title: 'Hold P99 of each day',
        description:
          'Good: flat. A slow rise is a lease that will be too short one day: compare with the leases above.',
        unit: 's',
        queries: line(NAMED, maxBy(BY_RESOURCE, daily('resource:redis_lock_hold_seconds:p99_1d'))),
      }),
      timeseries({
        ...shown,
        title: 'Losses and overlaps of each day',
        description:
          'Good: none. A resource that loses locks every few days has a lease that does not fit, or work that hangs.',
        unit: 'short',
        queries: [
          ...line(`${NAMED} lost`, sumBy(BY_RESOURCE, daily('resource:redis_lock_lost:increase1d'))),
          ...line(`${NAMED} overlaps`, sumBy(BY_RESOURCE, daily('resource:redis_lock_overlaps:increase1d'))),
        ],
      }),
      timeseries({
        ...shown,
        width: 24,
        title: 'Acquires of each day',
        description:
          'Good: in step with the business. The growth that the headroom has to carry; a sudden step needs an owner.',
        unit: 'short',
        queries: line(NAMED, sumBy(BY_RESOURCE, daily('resource:redis_lock_acquire:increase1d'))),
      }),
    ],
  };
}
