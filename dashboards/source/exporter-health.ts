import { exporterTargets, sampleAge } from './common-queries.js';
import { increase, maxBy, rate, sumBy } from './expressions.js';
import { family, target } from './metrics.js';
import type { DashboardSource, Due, Section } from './panel-source.js';
import { stat, timeline, timeseries } from './panels.js';

const NO_EXPORTER = 'No exporter is scraped';
const NOT_SAMPLED = 'This exporter does not sample';
const BY_STORE = ['store'] as const;

/** Whether the other dashboards can be trusted. */
export function exporterHealth(): DashboardSource {
  return {
    uid: 'redis-lock-exporter',
    description:
      'Can the other dashboards be trusted? Whether exporters are scraped, sample their Redis, hear from their clients, lose nothing on the way, and stay small.',
    from: 'now-3h',
    refresh: '30s',
    sections: [reached(), sampling(), events(), cost()],
  };
}

function reached(): Section {
  return {
    title: 'Are they there?',
    panels: [
      timeline({
        title: 'Targets',
        description:
          'Good: up throughout. Down: Prometheus cannot scrape it; nothing of that exporter is known meanwhile. See the target’s error in Prometheus and the exporter’s log.',
        noData: NO_EXPORTER,
        unit: 'none',
        width: 12,
        words: { '0': ['down', 'red'], '1': ['up', 'green'] },
        queries: [
          { legend: '{{instance}}', expr: maxBy(['job', 'instance'], exporterTargets()), due: 'alive' },
        ],
      }),
      stat({
        title: 'Versions',
        description:
          'Good: one version. How many exporters run each version; two for long means that a rollout did not end.',
        noData: NO_EXPORTER,
        unit: 'short',
        width: 6,
        height: 6,
        queries: [
          {
            legend: '{{version}}',
            expr: `count by (version) (${family('exporter_build_info')})`,
            due: 'alive',
          },
        ],
      }),
      stat({
        title: 'Clients',
        description:
          'Good: as many as there are processes that take locks. 0: no client reaches this exporter, and losses of locks stay unseen. Check the address the clients post to, and the answers below.',
        noData: NO_EXPORTER,
        unit: 'short',
        width: 6,
        height: 6,
        base: 'red',
        steps: [[0.5, 'green']],
        queries: [{ expr: sumBy([], family('exporter_producers')), due: 'load' }],
      }),
    ],
  };
}

function sampling(): Section {
  // One sample is one change of its time: a lower bound where several samples fall between two scrapes.
  const samples = `changes(${family('sample_timestamp_seconds')}[5m])`;
  const spent = `${samples} * avg_over_time(${family('sample_duration_seconds')}[5m])`;
  return {
    title: 'Do they see Redis?',
    panels: [
      timeseries({
        title: 'Sample age',
        description:
          'Good: below twice the sample interval. Growing: samples fail or do not run, and what Redis holds is not known. See the errors and Redis itself.',
        noData: NOT_SAMPLED,
        unit: 's',
        width: 8,
        queries: [{ legend: '{{store}}', expr: sampleAge(), due: 'alive' }],
      }),
      timeseries({
        title: 'Sample duration',
        description:
          'Good: well below the sample interval. Growing with the number of keys of the whole Redis: raise the interval, or sample held keys only.',
        noData: NOT_SAMPLED,
        unit: 's',
        width: 8,
        queries: [
          { legend: '{{store}}', expr: maxBy(BY_STORE, family('sample_duration_seconds')), due: 'alive' },
        ],
      }),
      timeseries({
        title: 'Sample duty: time spent in 5 min',
        description:
          'Good: below the limit given by --sample-duty; its default of 1 % is 3 s in 5 minutes. How long each exporter spent sampling; an estimate from below when it samples more often than it is scraped.',
        noData: NOT_SAMPLED,
        unit: 's',
        width: 8,
        queries: [{ legend: '{{store}} {{instance}}', expr: spent, due: 'alive' }],
      }),
      timeline({
        title: 'Samples cut short',
        description:
          'Good: whole. Cut short: the sample ran into a budget and did not look at every key itself, so counts of keys lag behind. Raise the interval, or narrow the key prefixes.',
        noData: NOT_SAMPLED,
        unit: 'none',
        width: 12,
        words: { '0': ['whole', 'green'], '1': ['cut short', 'orange'] },
        queries: [{ legend: '{{store}}', expr: maxBy(BY_STORE, family('sample_truncated')), due: 'alive' }],
      }),
      timeseries({
        title: 'Sample errors',
        description:
          'Good: no bars. Why samples, or parts of one, failed. connection, command_timeout: the way to Redis. no_permission, no_auth: the account’s rights, see the documented minimum.',
        noData: NOT_SAMPLED,
        unit: 'short',
        width: 12,
        height: 6,
        bars: true,
        stacked: true,
        queries: [
          {
            legend: '{{store}}: {{reason}}',
            expr: sumBy(['store', 'reason'], increase(family('sample_errors_total'))),
            due: 'alive',
          },
        ],
      }),
    ],
  };
}

function events(): Section {
  return {
    title: 'Do they hear their clients?',
    panels: [
      timeseries({
        title: 'Batches by answer',
        description:
          'Good: accepted, a few duplicates after resends. overloaded: too many events for one exporter. Anything that starts with bad_, unauthorized, wrong_store: a client is set up wrongly; its log says what to change.',
        noData: NO_EXPORTER,
        unit: 'ops',
        width: 12,
        queries: [
          {
            legend: '{{result}}',
            expr: sumBy(['result'], rate(family('exporter_batches_total'))),
            due: 'alive',
          },
        ],
      }),
      timeseries({
        title: 'Events by kind',
        description:
          'Good: acquire and release in step. Only acquires: clients end without their last batch. Nothing: no client reports, or nobody takes locks.',
        noData: NO_EXPORTER,
        unit: 'ops',
        width: 12,
        queries: [
          {
            legend: '{{kind}}',
            expr: sumBy(['kind'], rate(family('exporter_events_total'))),
            due: 'alive',
          },
        ],
      }),
      timeseries({
        title: 'Events lost or refused',
        description:
          'Good: no bars. dropped: the client’s queue was full or the exporter away for too long. gap: a batch never came. refused: the event breaks the contract, as with a client of another version. Each makes the counts too low.',
        noData: NO_EXPORTER,
        unit: 'short',
        width: 12,
        bars: true,
        stacked: true,
        queries: [
          {
            legend: 'dropped: {{reason}}',
            expr: sumBy(['reason'], increase(family('exporter_producer_dropped_total'))),
            due: 'alive',
          },
          { legend: 'gap', expr: sumBy([], increase(family('exporter_seq_gaps_total'))), due: 'alive' },
          {
            legend: 'refused: {{reason}}',
            expr: sumBy(['reason'], increase(family('exporter_events_rejected_total'))),
            due: 'alive',
          },
        ],
      }),
      timeseries({
        title: 'Clients and holders',
        description:
          'Good: steady but for rollouts. Forgotten: clients silent for too long, or too many of them for the table. Unsure: holders that cannot be judged after a restart or a gap; they must go back to 0 within seconds.',
        noData: NO_EXPORTER,
        unit: 'short',
        width: 12,
        queries: [
          { legend: 'clients of {{instance}}', expr: sumBy(['instance'], family('exporter_producers')) },
          {
            legend: 'forgotten by {{instance}}',
            expr: sumBy(['instance'], increase(family('exporter_producers_forgotten_total'))),
            due: 'alive',
          },
          {
            legend: 'unsure holders',
            expr: sumBy([], family('unsure_holders')),
            due: 'load',
          },
        ],
      }),
    ],
  };
}

function cost(): Section {
  const line = (legend: string, expr: string, due: Due = 'alive') => ({ legend, expr, due });
  const byTarget = (name: string) => maxBy(['instance'], target(name));
  return {
    title: 'What do they cost?',
    panels: [
      timeseries({
        title: 'Series of each scrape',
        description:
          'Good: about 110 for each resource, and flat. Growing with traffic: too many resources; write a resource rule that names classes and not single locks.',
        noData: NO_EXPORTER,
        unit: 'short',
        width: 8,
        queries: [
          line('{{instance}}', `${byTarget('scrape_samples_scraped')} and on (instance) ${byBuild()}`),
        ],
      }),
      timeseries({
        title: 'Resources and overflow',
        description:
          'Good: below 200 resources, no overflow. Above, further ones are counted together as __other__ and cannot be told apart: write a resource rule.',
        noData: NO_EXPORTER,
        unit: 'short',
        width: 8,
        queries: [
          line('resources of {{instance}}', maxBy(['instance'], family('exporter_resources')), 'load'),
          line('folded by {{label}}', sumBy(['label'], increase(family('exporter_label_overflow_total')))),
        ],
      }),
      timeseries({
        title: 'Scrape duration',
        description: 'Good: below 0.1 s. Above the scrape timeout the target counts as down.',
        noData: NO_EXPORTER,
        unit: 's',
        width: 8,
        queries: [
          line('{{instance}}', `${byTarget('scrape_duration_seconds')} and on (instance) ${byBuild()}`),
        ],
      }),
      timeseries({
        title: 'Memory',
        description:
          'Good: below 150 MB with 100,000 live locks, and flat. Growing for hours: report it, with the number of resources and clients.',
        noData: NO_EXPORTER,
        unit: 'bytes',
        width: 8,
        queries: [
          line('{{instance}} resident', exporterOnly('process_resident_memory_bytes')),
          line('{{instance}} heap', exporterOnly('nodejs_heap_size_used_bytes')),
        ],
      }),
      timeseries({
        title: 'Event-loop lag',
        description:
          'Good: below 20 ms. Above, the exporter answers late: batches and scrapes pile up. Give it more CPU, or fewer clients.',
        noData: NO_EXPORTER,
        unit: 's',
        width: 8,
        queries: [
          line('{{instance}} P99', exporterOnly('nodejs_eventloop_lag_p99_seconds')),
          line('{{instance}} max', exporterOnly('nodejs_eventloop_lag_max_seconds')),
        ],
      }),
      timeseries({
        title: 'CPU',
        description:
          'Good: well below 1, which is one core. The exporter uses one core at most for its own work.',
        noData: NO_EXPORTER,
        unit: 'percentunit',
        width: 8,
        queries: [
          line(
            '{{instance}}',
            `${sumBy(['instance'], rate(target('process_cpu_seconds_total')))} and on (instance) ${byBuild()}`,
          ),
        ],
      }),
      timeseries({
        title: 'Faults of the exporter itself',
        description:
          'Good: no bars. Values that were refused or families that could not be rendered: a defect of the exporter. Report it with the name of the family.',
        noData: 'None',
        unit: 'short',
        width: 24,
        height: 6,
        bars: true,
        queries: [
          line(
            'refused: {{family}}',
            sumBy(['family'], increase(family('exporter_values_refused_total'))),
            'trouble',
          ),
          line(
            'not rendered: {{family}}',
            sumBy(['family'], increase(family('exporter_render_errors_total'))),
            'trouble',
          ),
        ],
      }),
    ],
  };
}

/** The process families have common names: only those of exporters, whatever else the chosen jobs scrape. */
function exporterOnly(name: string): string {
  return `${maxBy(['instance'], target(name))} and on (instance) ${byBuild()}`;
}

function byBuild(): string {
  return maxBy(['instance'], family('exporter_build_info'));
}
