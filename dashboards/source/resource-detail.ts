import { attempts, FAILED, FIXED_LEASE } from './common-queries.js';
import {
  BY_RESOURCE,
  increase,
  maxBy,
  minBy,
  quantile,
  rate,
  sampledOnce,
  saturatedQuantile,
  share,
  sumBy,
} from './expressions.js';
import { buckets, type FamilyName, family } from './metrics.js';
import type { DashboardSource, PanelSource, PanelWords, Section } from './panel-source.js';
import { type GrafanaUnit, heatmap, SATURATED, timeseries } from './panels.js';

const NO_TRAFFIC = 'No traffic';
const NO_RENEWALS = 'No lock is renewed';
const NOT_SAMPLED = 'No sample';
const NAMED = '{{store}} {{resource}}';

/** Everything about one class of locks. */
export function resourceDetail(): DashboardSource {
  return {
    uid: 'redis-lock-resource',
    description:
      'One class of locks: who asks for it, how long it is waited for and held, how near that comes to the lease, how it was lost, and what Redis holds. Choose a resource at the top.',
    from: 'now-3h',
    refresh: '30s',
    sections: [asked(), held(), renewed(), lost(), seen()],
  };
}

function asked(): Section {
  const failures = (...more: string[]) => rate(family('acquire_failures_total', ...more));
  const tries = sumBy([], rate(family('acquire_total', 'mode="try"')));
  return {
    title: 'Who asks for it',
    panels: [
      timeseries({
        title: 'Attempts by outcome',
        description:
          'Good: mostly acquired; contended is a normal answer for callers that only try. wait_limit or deadline growing: too busy, see Capacity review. connection and other words of Redis: look at Redis.',
        noData: NO_TRAFFIC,
        unit: 'ops',
        width: 12,
        stacked: true,
        queries: [
          { legend: 'acquired', expr: `${attempts()} - (${sumBy([], failures())} or 0 * ${attempts()})` },
          { legend: '{{mode}}: {{reason}}', expr: sumBy(['mode', 'reason'], failures()) },
        ],
      }),
      timeseries({
        title: 'Contention',
        description:
          'Good: low and steady. Share of tries that met a holder, share of acquires that failed, and retries for each acquire. Near 1 is by design for leader election and for cron jobs that many start and one runs.',
        noData: NO_TRAFFIC,
        unit: 'percentunit',
        width: 12,
        queries: [
          {
            legend: 'tries that were contended',
            expr: share(sumBy([], failures('mode="try"', 'reason="contended"')), tries),
          },
          { legend: 'acquires that failed', expr: share(sumBy([], failures(FAILED)), attempts()) },
          {
            legend: 'retries for each acquire',
            expr: share(sumBy([], rate(family('acquire_retries_total'))), attempts()),
          },
        ],
      }),
      spread('Wait', 'acquire_wait_seconds', {
        description:
          'Good: dark at the bottom. A second band high up is a group of callers that queue behind long holds. Only acquires that were granted or timed out count.',
        noData: NO_TRAFFIC,
      }),
      quantiles('Wait quantiles', 'acquire_wait_seconds', 's', {
        description:
          'Good: the 99th percentile well below the callers’ wait limit. Red points: it lies beyond the largest bucket and may be anything above.',
        noData: NO_TRAFFIC,
      }),
    ],
  };
}

function held(): Section {
  return {
    title: 'How long it is held',
    panels: [
      spread('Hold', 'hold_seconds', {
        description:
          'Good: one narrow band. A long tail means that some work is much slower: find it before the lease is too short for it. Time until the work settled, also after a loss.',
        noData: NO_TRAFFIC,
      }),
      quantiles('Hold quantiles', 'hold_seconds', 's', {
        description:
          'Good: the 99th percentile below 0.8 of the lease. Red points: it lies beyond the largest bucket and may be anything above.',
        noData: NO_TRAFFIC,
      }),
      quantiles(
        'Hold ÷ lease, fixed leases',
        'hold_lease_ratio',
        'percentunit',
        {
          description:
            'Good: below 0.8. Above 1 the work outlived its lease: lengthen the lease, shorten the work or use the watchdog. Holds that were never renewed.',
          noData: NO_TRAFFIC,
        },
        FIXED_LEASE,
      ),
      quantiles('Lease peak use', 'lease_peak_use_ratio', 'percentunit', {
        description:
          'Good: near a third with the watchdog. Above 0.8 renewals come late, above 1 the lease had ended before it was extended: look at renewal lateness. Largest share of a lease used before it was extended or the work settled.',
        noData: NO_TRAFFIC,
      }),
      timeseries({
        title: 'Last hold ÷ lease',
        description:
          'Good: below 0.8. The hold that was released last, for locks too rare for a quantile, such as a nightly job. The largest over the exporters.',
        noData: NO_TRAFFIC,
        unit: 'percentunit',
        width: 12,
        limits: true,
        steps: [
          [0.8, 'orange'],
          [1, 'red'],
        ],
        queries: [{ legend: NAMED, expr: maxBy(BY_RESOURCE, family('last_hold_lease_ratio')) }],
      }),
      timeseries({
        title: 'Since the last grant',
        description:
          'Good: below the interval at which the lock should be taken. Longer: the job does not run, or does not reach its lock.',
        noData: NO_TRAFFIC,
        unit: 's',
        width: 12,
        queries: [
          {
            legend: NAMED,
            expr: `time() - ${maxBy(BY_RESOURCE, family('last_acquired_timestamp_seconds'))}`,
          },
        ],
      }),
    ],
  };
}

function renewed(): Section {
  return {
    title: 'How it is renewed',
    panels: [
      timeseries({
        title: 'Renewals and their failures',
        description:
          'Good: renewals in step with long holds, no failures. expired or stolen: the lock was gone when it was to be extended, which is a loss. connection, command_timeout: Redis did not answer; retried until the lease ends.',
        noData: NO_RENEWALS,
        unit: 'ops',
        width: 12,
        queries: [
          { legend: 'renewed', expr: sumBy([], rate(family('renewals_total'))) },
          { legend: 'failed: {{reason}}', expr: sumBy(['reason'], rate(family('renewal_failures_total'))) },
        ],
      }),
      timeseries({
        title: 'Lease left when a renewal was sent',
        description:
          'Good: about 0.67 with the watchdog, which renews at a third of the lease. Low values of the worst percentile mean that renewals come late: a busy event loop, a pause of the process, or a slow Redis.',
        noData: NO_RENEWALS,
        unit: 'percentunit',
        width: 12,
        queries: [
          { legend: 'median', expr: quantile(0.5, 'renewal_margin_ratio') },
          { legend: 'worst percentile', expr: quantile(0.01, 'renewal_margin_ratio') },
        ],
      }),
      quantiles('Renewal lateness', 'renewal_lateness_seconds', 's', {
        description:
          'Good: near 0. How much later than planned a renewal was sent: the delay of the client’s event loop while it holds the lock. Near a third of the lease: the next pause loses the lock. Find the blocking work in the client.',
        noData: NO_RENEWALS,
      }),
      quantiles('Renewals for each hold', 'renewals_per_hold', 'short', {
        description:
          'Good: steady. Rising without longer work: a watchdog that nobody stops. Only holds that were extended at least once.',
        noData: NO_RENEWALS,
      }),
    ],
  };
}

function lost(): Section {
  const bars = { unit: 'short', width: 12, bars: true, stacked: true } as const;
  return {
    title: 'How it was lost',
    panels: [
      timeseries({
        ...bars,
        title: 'Lost by detection',
        description:
          'Good: no bars. deadline: the client’s own clock, before anybody told it, as with a pause or slow work. renew, check, release: Redis said so first, as with a failover, a delete or an eviction. max_hold: given up on purpose.',
        noData: NO_TRAFFIC,
        queries: [
          { legend: '{{detected_by}}', expr: sumBy(['detected_by'], increase(family('lost_total'))) },
        ],
      }),
      timeseries({
        ...bars,
        title: 'Overlaps and unlock=0',
        description:
          'Good: no bars. overlap: another was granted the lock before the work settled. expired: the key was gone at release. stolen: it was another’s. Reconcile the data of an overlap by fence.',
        noData: NO_TRAFFIC,
        queries: [
          { legend: 'overlap', expr: sumBy([], increase(family('overlaps_total'))) },
          {
            legend: 'unlock=0: {{cause}}',
            expr: sumBy(['cause'], increase(family('release_not_owned_total'))),
          },
          {
            legend: 'ghost holder',
            expr: sumBy([], increase(family('ghost_holders_total'))),
            due: 'load',
          },
        ],
      }),
      timeseries({
        ...bars,
        title: 'Last lines of defence',
        description:
          'Good: no bars but held. fence rejected: the store refused a stale write, so a lost holder did write. duplicate: a business action ran twice; unabsorbed means that nothing made it harmless. Checks are those before a commit.',
        noData: 'Not used',
        queries: [
          { legend: 'check: {{outcome}}', expr: sumBy(['outcome'], increase(family('checks_total'))) },
          { legend: 'fence rejected', expr: sumBy([], increase(family('fence_rejections_total'))) },
          {
            legend: 'duplicate, absorbed: {{absorbed}}',
            expr: sumBy(['absorbed'], increase(family('duplicate_executions_total'))),
            due: 'trouble',
          },
        ],
      }),
      timeseries({
        title: 'Length of overlaps',
        description:
          'Good: empty. From the first grant to another until the late work settled, by the clock of Redis: the window in which data may have been written twice. Red points: it lies beyond the largest bucket and may be anything above.',
        noData: 'No overlap',
        unit: 's',
        width: 12,
        overrides: [SATURATED],
        queries: [
          {
            legend: 'P99',
            expr: quantile(0.99, 'overlap_seconds'),
            due: 'load',
          },
          {
            legend: 'P99 beyond the largest bucket',
            expr: saturatedQuantile(0.99, 'overlap_seconds'),
            due: 'trouble',
          },
        ],
      }),
    ],
  };
}

function seen(): Section {
  const sampled = (name: FamilyName) => sumBy([], sampledOnce(family(name)));
  return {
    title: 'What Redis holds',
    panels: [
      timeseries({
        title: 'Keys and holders',
        description:
          'Good: keys and holders agree, none without expiry, no orphans. Foreign keys are those of other lock libraries or of clients of other exporters. An orphan’s client is silent: its lock ends with its lease.',
        noData: NOT_SAMPLED,
        unit: 'short',
        width: 12,
        queries: [
          { legend: 'keys', expr: sampled('keys') },
          { legend: 'without expiry', expr: sampled('keys_without_expiry') },
          { legend: 'foreign', expr: sampled('foreign_keys') },
          { legend: 'holders', expr: sumBy([], family('holders')), due: 'load' },
          { legend: 'orphans', expr: sampled('orphan_keys'), due: 'load' },
        ],
      }),
      timeseries({
        title: 'Oldest hold',
        description:
          'Good: in the range of the hold quantiles, or of the term of a leader. Growing without end: a holder that hangs while its watchdog renews, or a key without expiry. Since it was first seen with its present owner: a lower bound.',
        noData: NOT_SAMPLED,
        unit: 's',
        width: 12,
        queries: [{ legend: NAMED, expr: maxBy(BY_RESOURCE, family('oldest_hold_seconds')) }],
      }),
      timeseries({
        title: 'Time to the next and the last expiry',
        description:
          'Good: between 0 and the lease. Far above the lease: somebody asked for too long a lease, or the clock of Redis jumped. The latest is also when the last of these locks would be free if every holder died now.',
        noData: 'No key that expires',
        unit: 's',
        width: 12,
        queries: [
          {
            legend: 'earliest',
            expr: `clamp_min(${minBy([], family('earliest_expiry_timestamp_seconds'))} - time(), 0)`,
          },
          {
            legend: 'latest',
            expr: `clamp_min(${maxBy([], family('latest_expiry_timestamp_seconds'))} - time(), 0)`,
          },
        ],
      }),
      timeseries({
        title: 'How keys ended, as seen in Redis',
        description:
          'Good: released. Ended at their expiry means that the holder crashed or overran its lease: of a foreign key, a suspect of a lost lock that no client reports. Handovers show that the lock is in use. All are lower bounds, whatever library holds the keys.',
        noData: NOT_SAMPLED,
        unit: 'ops',
        width: 12,
        queries: [
          {
            legend: 'released before expiry',
            expr: sumBy([], sampledOnce(rate(family('observed_released_total')))),
          },
          {
            legend: 'ended at expiry',
            expr: sumBy([], sampledOnce(rate(family('observed_expired_total')))),
          },
          {
            legend: 'handovers',
            expr: sumBy([], sampledOnce(rate(family('observed_handovers_total')))),
          },
        ],
      }),
    ],
  };
}

type Words = Pick<PanelWords, 'description' | 'noData'>;

function spread(title: string, name: FamilyName, words: Words): PanelSource {
  const expr = sumBy(['le'], increase(buckets(name)));
  return heatmap({ ...words, title, unit: 's', width: 12, queries: [{ legend: '{{le}}', expr }] });
}

/** Median and 99th percentile, a mark where the latter is saturated. */
function quantiles(
  title: string,
  name: FamilyName,
  unit: GrafanaUnit,
  words: Words,
  ...more: string[]
): PanelSource {
  const limits = unit === 'percentunit';
  return timeseries({
    ...words,
    title,
    unit,
    width: 12,
    limits,
    steps: limits
      ? [
          [0.8, 'orange'],
          [1, 'red'],
        ]
      : [],
    overrides: [SATURATED],
    queries: [
      { legend: 'P50', expr: quantile(0.5, name, [], ...more) },
      { legend: 'P99', expr: quantile(0.99, name, [], ...more) },
      {
        legend: 'P99 beyond the largest bucket',
        expr: saturatedQuantile(0.99, name, [], ...more),
        due: 'trouble',
      },
    ],
  });
}
