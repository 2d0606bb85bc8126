import {
  among,
  attempts,
  countWhere,
  exporterTargets,
  FAILED,
  FIXED_LEASE,
  sampleAge,
  UNWANTED,
} from './common-queries.js';
import {
  BY_RESOURCE,
  increase,
  increaseShown,
  maxBy,
  quantile,
  quantileShown,
  rate,
  sampledOnce,
  saturatedQuantile,
  share,
  shareOfTotal,
  sumBy,
} from './expressions.js';
import { RESOURCE_LINK } from './links.js';
import { alerts, family, recorded } from './metrics.js';
import type { DashboardSource, Section, Steps } from './panel-source.js';
import { SATURATED, stat, timeline, timeseries } from './panels.js';
import { table } from './table-panel.js';

/** An event that must never happen. Between 0 and 1, because increase() extrapolates and rarely gives whole numbers. */
const NEVER: Steps = [[0.5, 'red']];
const RARELY: Steps = [[0.5, 'orange']];
const LEASE_USE: Steps = [
  [0.8, 'orange'],
  [1, 'red'],
];

const NO_CLIENTS = 'Not evaluated: no client reports';
const NO_TRAFFIC = 'No traffic';
const NOT_SAMPLED = 'Not evaluated: no sample';

/** How many rows a table of the busiest has. */
const ROWS = 20;

/** The first look: are locks safe now, is it getting worse, where. */
export function overview(): DashboardSource {
  return {
    uid: 'redis-lock-overview',
    description:
      'Are the Redis locks safe now, what is not being evaluated, and which locks to look at. A lock that is lost does not fail by itself: every number above 0 in the first row means that data may be wrong.',
    from: 'now-6h',
    refresh: '30s',
    sections: [safety(), notEvaluated(), trend(), where(), which()],
  };
}

function safety(): Section {
  return {
    title: 'Are locks safe now?',
    panels: [
      stat({
        title: 'Overlaps',
        description:
          'Good: 0. Holds during which another was granted the same lock: two processes worked at once. Find the resource in "Resources in trouble", then follow the runbook of RedisLockOverlap and reconcile the data by fence.',
        noData: NO_CLIENTS,
        unit: 'short',
        decimals: 0,
        width: 4,
        steps: NEVER,
        queries: [{ expr: sumBy([], increaseShown(family('overlaps_total'))) }],
      }),
      stat({
        title: 'Locks lost',
        description:
          'Good: 0. The lease ended, or the key became another’s, while the work went on. Nobody need have entered, but somebody could. See how it was found in the resource’s detail; holds that reached their own limit are not counted here.',
        noData: NO_CLIENTS,
        unit: 'short',
        decimals: 0,
        width: 4,
        steps: NEVER,
        queries: [{ expr: sumBy([], increaseShown(family('lost_total', UNWANTED))) }],
      }),
      stat({
        title: 'Unlock returned 0',
        description:
          'Good: 0. Releases that found the lock gone or another’s: the work took longer than the lease. Give the lock a longer lease or a watchdog, or make the work shorter.',
        noData: NO_CLIENTS,
        unit: 'short',
        decimals: 0,
        width: 4,
        steps: NEVER,
        queries: [{ expr: sumBy([], increaseShown(family('release_not_owned_total'))) }],
      }),
      stat({
        title: 'Keys without expiry',
        description:
          'Good: 0, unless a resource’s policy says that its locks need none. If its holder dies such a lock is held for ever. Find who wrote it; never delete it blindly.',
        noData: NOT_SAMPLED,
        unit: 'short',
        decimals: 0,
        width: 4,
        steps: RARELY,
        queries: [{ expr: sumBy([], sampledOnce(family('keys_without_expiry'))) }],
      }),
      stat({
        title: 'Alerts firing',
        description:
          'Good: none. Alerts of this project that fire now in the Prometheus behind this dashboard. Each has a runbook. That rules are loaded there is told by the recording rules, which are loaded in the same step.',
        noData: 'Not evaluated: rules are not loaded',
        unit: 'short',
        decimals: 0,
        width: 4,
        steps: NEVER,
        queries: [
          {
            expr: `count(${alerts()}) or 0 * count(${recorded('job:redis_lock_samples:sum')})`,
            due: 'alive',
          },
        ],
      }),
      stat({
        title: 'Clients reporting',
        description:
          'Good: as many as there are processes that take locks. 0 means that the first three numbers are not known, not that they are 0: look at the clients’ exporter address and at Exporter health.',
        noData: 'No exporter is scraped',
        unit: 'short',
        decimals: 0,
        width: 4,
        base: 'red',
        steps: [[0.5, 'green']],
        queries: [{ expr: sumBy([], family('exporter_producers')) }],
      }),
    ],
  };
}

function notEvaluated(): Section {
  const stores = maxBy(['store'], family('up'));
  const lost = ['exporter_producer_dropped_total', 'exporter_seq_gaps_total'] as const;
  return {
    title: 'What is not being evaluated',
    panels: [
      stat({
        title: 'Blind spots',
        description:
          'Good: all 0. What is counted here cannot be judged and must not be read as safe: stores whose last sample failed, samples that are old or cut short, exporters that are down, events that never arrived, resources folded into one, holders that cannot be judged yet. Go to Exporter health.',
        noData: 'No exporter is scraped',
        unit: 'short',
        decimals: 0,
        width: 24,
        steps: RARELY,
        queries: [
          { legend: 'Exporters down', expr: countWhere(`(${exporterTargets()})`, '== 0'), due: 'alive' },
          { legend: 'Stores not sampled', expr: countWhere(stores, '== 0'), due: 'alive' },
          { legend: 'Samples older than 1 min', expr: countWhere(`(${sampleAge()})`, '> 60'), due: 'alive' },
          {
            legend: 'Samples cut short',
            expr: countWhere(maxBy(['store'], family('sample_truncated')), '== 1'),
            due: 'alive',
          },
          {
            legend: 'Events or batches lost',
            expr: lost.map((name) => sumBy([], increaseShown(family(name)))).join(' + '),
            due: 'alive',
          },
          {
            legend: 'Events refused',
            expr: sumBy([], increaseShown(family('exporter_events_rejected_total'))),
            due: 'alive',
          },
          {
            legend: 'Folded into __other__',
            expr: sumBy([], increaseShown(family('exporter_label_overflow_total'))),
            due: 'alive',
          },
          {
            legend: 'Unsure holders',
            expr: sumBy([], family('unsure_holders')),
            due: 'load',
          },
        ],
      }),
    ],
  };
}

function trend(): Section {
  const failures = sumBy(['reason'], rate(family('acquire_failures_total', FAILED)));
  return {
    title: 'Is it getting worse?',
    panels: [
      timeseries({
        title: 'Acquire failure ratio by reason',
        description:
          'Good: near 0. Share of acquires that timed out or that Redis failed to answer. wait_limit and deadline: the lock is too busy, see Capacity review. connection, command_timeout, readonly, loading: Redis. Contended tries and what callers gave up themselves do not count.',
        noData: NO_TRAFFIC,
        unit: 'percentunit',
        width: 12,
        stacked: true,
        queries: [{ legend: '{{reason}}', expr: shareOfTotal(failures, attempts()) }],
      }),
      timeseries({
        title: 'Acquire wait',
        description:
          'Good: the 99th percentile well below the callers’ wait limit. Red points mean that it lies beyond the largest bucket and may be anything above. Rising with the busy ratio: see Capacity review.',
        noData: NO_TRAFFIC,
        unit: 's',
        width: 12,
        overrides: [SATURATED],
        queries: [
          { legend: 'P50', expr: quantile(0.5, 'acquire_wait_seconds') },
          { legend: 'P99', expr: quantile(0.99, 'acquire_wait_seconds') },
          {
            legend: 'P99 beyond the largest bucket',
            expr: saturatedQuantile(0.99, 'acquire_wait_seconds'),
            due: 'trouble',
          },
        ],
      }),
      timeseries({
        title: 'Hold P99 ÷ lease, fixed leases',
        description:
          'Good: below 0.8. At 1 the work takes as long as the lease: the lock ends while it is needed. Lengthen the lease, shorten the work or use the watchdog. Locks that were renewed are judged in the resource’s detail by the peak use of their lease.',
        noData: NO_TRAFFIC,
        unit: 'percentunit',
        width: 12,
        limits: true,
        steps: LEASE_USE,
        overrides: [SATURATED],
        queries: [
          {
            legend: '{{store}} {{resource}}',
            expr: quantile(0.99, 'hold_lease_ratio', BY_RESOURCE, FIXED_LEASE),
          },
          {
            legend: '{{store}} {{resource}} beyond the largest bucket',
            expr: saturatedQuantile(0.99, 'hold_lease_ratio', BY_RESOURCE, FIXED_LEASE),
            due: 'trouble',
          },
        ],
      }),
      timeseries({
        title: 'Renewal frequency',
        description:
          'Good: steady, and in step with the number of long holds. Rising alone: holds get longer or a watchdog runs away. Falling to 0 while locks are held: renewals have stopped, losses follow within a lease.',
        noData: 'No lock is renewed',
        unit: 'ops',
        width: 12,
        queries: [
          { legend: '{{store}} {{resource}}', expr: sumBy(BY_RESOURCE, rate(family('renewals_total'))) },
        ],
      }),
    ],
  };
}

/** Everything that means a lock was not safe, as one number per label. */
function trouble(by: readonly string[]): string {
  const events = [
    family('overlaps_total'),
    family('lost_total', UNWANTED),
    family('release_not_owned_total'),
  ];
  return events.map((selector) => sumBy(by, increase(selector))).join(' + ');
}

function where(): Section {
  return {
    title: 'One or all?',
    panels: [
      timeseries({
        title: 'Trouble by exporter',
        description:
          'Good: no bars. Overlaps, losses and unlock=0 together. One bar: one pod (or, with one exporter per Redis, one Redis). All at once: Redis or a release of the application.',
        noData: NO_CLIENTS,
        unit: 'short',
        width: 8,
        bars: true,
        stacked: true,
        queries: [{ legend: '{{instance}}', expr: trouble(['instance']) }],
      }),
      timeseries({
        title: 'Trouble by store',
        description:
          'Good: no bars. The same by Redis. One store: look for a failover, eviction or flush there. All stores: the application or its hosts.',
        noData: NO_CLIENTS,
        unit: 'short',
        width: 8,
        bars: true,
        stacked: true,
        queries: [{ legend: '{{store}}', expr: trouble(['store']) }],
      }),
      timeline({
        title: 'Redis as the exporter sees it',
        description:
          'Good: sampled throughout. Red: the sample failed, for the reason in the name. Losses right after red are those of a failover or a stall of Redis.',
        noData: NOT_SAMPLED,
        unit: 'none',
        width: 8,
        height: 8,
        words: { '0': ['failed', 'red'], '1': ['sampled', 'green'] },
        queries: [
          { legend: '{{store}} {{reason}}', expr: maxBy(['store', 'reason'], family('up')), due: 'alive' },
        ],
      }),
    ],
  };
}

function which(): Section {
  const acquires = sumBy(BY_RESOURCE, increaseShown(family('acquire_total')));
  const failures = sumBy(BY_RESOURCE, increaseShown(family('acquire_failures_total', FAILED)));
  const top = among(ROWS, acquires);
  return {
    title: 'Which locks?',
    panels: [
      table({
        title: 'Resources in trouble',
        description:
          'Good: empty. Every resource that had an overlap, a loss or an unlock=0 in the time shown, or has keys without expiry. Its name leads to the detail.',
        noData: 'None, if clients report',
        width: 12,
        rows: BY_RESOURCE,
        sortBy: 'Lost',
        link: RESOURCE_LINK,
        columns: [
          {
            title: 'Overlaps',
            unit: 'short',
            decimals: 0,
            steps: NEVER,
            expr: `${sumBy(BY_RESOURCE, increaseShown(family('overlaps_total')))} > 0`,
          },
          {
            title: 'Lost',
            unit: 'short',
            decimals: 0,
            steps: NEVER,
            expr: `${sumBy(BY_RESOURCE, increaseShown(family('lost_total', UNWANTED)))} > 0`,
          },
          {
            title: 'Unlock=0',
            unit: 'short',
            decimals: 0,
            steps: NEVER,
            expr: `${sumBy(BY_RESOURCE, increaseShown(family('release_not_owned_total')))} > 0`,
          },
          {
            title: 'Keys without expiry',
            unit: 'short',
            decimals: 0,
            steps: RARELY,
            expr: `${sumBy(BY_RESOURCE, sampledOnce(family('keys_without_expiry')))} > 0`,
          },
        ],
      }),
      table({
        title: 'Busiest resources',
        description:
          'The resources with most acquires in the time shown. Good: failures near 0, hold ÷ lease below 0.8. Its name leads to the detail.',
        noData: NO_TRAFFIC,
        width: 12,
        rows: BY_RESOURCE,
        sortBy: 'Acquires',
        link: RESOURCE_LINK,
        columns: [
          { title: 'Acquires', unit: 'short', decimals: 0, expr: `topk(${ROWS}, ${acquires}) > 0` },
          { title: 'Failed', unit: 'percentunit', decimals: 1, expr: `${share(failures, acquires)} ${top}` },
          {
            title: 'Wait P99',
            unit: 's',
            expr: `${quantileShown(0.99, 'acquire_wait_seconds', BY_RESOURCE)} ${top}`,
          },
          {
            title: 'Hold P99 ÷ lease',
            unit: 'percentunit',
            steps: LEASE_USE,
            expr: `${quantileShown(0.99, 'hold_lease_ratio', BY_RESOURCE, FIXED_LEASE)} ${top}`,
          },
        ],
      }),
    ],
  };
}
