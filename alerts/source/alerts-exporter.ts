import { bridged, duration, INSTANCE, increases, JOB, policy, ratio, STORE } from './promql.js';
import type { AlertSpec } from './rule.js';
import type { Thresholds } from './thresholds.js';

/** Alerts on the watcher: whatever is not evaluated must not look green. */
export function exporterAlerts(thresholds: Thresholds, job: string): AlertSpec[] {
  return [
    eventsMissing(thresholds),
    unsureHolders(thresholds),
    ...incompleteEvents(thresholds),
    ...targets(thresholds, job),
  ];
}

const WARNING = { severity: 'warning', signal: 'state' } as const;

function eventsMissing({ durations }: Thresholds): AlertSpec {
  const { ticketWindow, policyWindow } = durations;
  const handovers = `increase(redis_lock_observed_handovers_total[${duration(ticketWindow)}])`;
  return {
    ...WARNING,
    name: 'EventsMissing',
    subject: 'events',
    scope: 'store',
    expr: [
      `max by (${STORE}) (\n  ${handovers}\n  unless\n  ${policy('events="none"', policyWindow)}\n) > 0`,
      'unless',
      `${increases('acquire_total', ticketWindow, STORE)} > 0`,
    ].join('\n'),
    pending: durations.eventsMissingFor,
    summary: 'Redis locks change hands, but no client reports',
    says: `locks went from holder to holder (about {{ $value | printf "%.0f" }} times in the busiest resource within ${duration(ticketWindow)}), and not one acquire was reported. Lost locks and overlaps would not be seen: everything looks green.`,
  };
}

function unsureHolders({ durations, limits, floors }: Thresholds): AlertSpec {
  const holders = `sum by (${STORE}) (${bridged('holders', durations.bridge)})`;
  // The least, not the most: a client that has just come is unsure until its first heartbeat.
  const unsure = `sum by (${STORE}) (min_over_time(redis_lock_unsure_holders[${duration(durations.bridge)}]))`;
  return {
    ...WARNING,
    name: 'UnsureHolders',
    subject: 'events',
    scope: 'store',
    expr: `${ratio(unsure, holders)} > ${limits.unsureHolders}\nand\n${holders} >= ${floors.holders}`,
    pending: durations.unsureHoldersFor,
    summary: 'The exporter does not know whether many holds are still live',
    says: 'nothing can be said about {{ $value | humanizePercentage }} of the holds: their clients did not send their full list since a restart or a gap.',
  };
}

function incompleteEvents({ durations }: Thresholds): AlertSpec[] {
  const happened = (counter: string, by: string) =>
    `${increases(counter, durations.incompleteWindow, by)} > 0`;
  const within = `within ${duration(durations.incompleteWindow)}`;
  const common = { ...WARNING, subject: 'events', scope: 'job' } as const;
  return [
    {
      ...common,
      name: 'EventsDropped',
      // A client that ends with a full queue drops the rest of it: a rolling deployment is no fault.
      expr: happened('exporter_producer_dropped_total{reason!="shutdown"}', `${JOB}, reason`),
      pending: durations.eventsDroppedFor,
      summary: 'Lock clients dropped events they could not deliver',
      says: `clients report about {{ $value | printf "%.0f" }} events dropped ${within} (reason {{ $labels.reason }}). Counts of this time are too low, losses among them.`,
    },
    {
      ...common,
      name: 'EventsRejected',
      expr: happened('exporter_events_rejected_total', `${JOB}, reason`),
      pending: durations.eventsRejectedFor,
      summary: 'The exporter refuses events that break the contract',
      says: `about {{ $value | printf "%.0f" }} events ${within} were refused (reason {{ $labels.reason }}): an emitter of another version, or one written by hand, has a fault.`,
    },
    {
      ...common,
      name: 'SeqGaps',
      expr: happened('exporter_seq_gaps_total', JOB),
      pending: durations.seqGapsFor,
      summary: 'Batches of lock events were lost on the way',
      says: `about {{ $value | printf "%.0f" }} batches ${within} never arrived although their client went on sending.`,
    },
    {
      ...common,
      name: 'LabelOverflow',
      expr: happened('exporter_label_overflow_total', `${JOB}, label`),
      pending: durations.labelOverflowFor,
      summary: 'Too many names: lock metrics are folded into "__other__"',
      says: `about {{ $value | printf "%.0f" }} events or sampled resources ${within} were counted under "__other__" (label {{ $labels.label }}). Resources without series of their own are not alerted on by name.`,
    },
  ];
}

function targets({ durations }: Thresholds, job: string): AlertSpec[] {
  const common = { ...WARNING, subject: 'exporter' } as const;
  return [
    {
      ...common,
      name: 'ExporterDown',
      scope: 'instance',
      expr: `max by (${INSTANCE}) (max_over_time(up{job="${job}"}[${duration(durations.bridge)}])) == 0`,
      pending: durations.exporterDownFor,
      summary: 'A redis-lock-exporter cannot be scraped',
      says: `Prometheus has not reached it for ${duration(durations.bridge + durations.exporterDownFor)} or longer. The locks of its clients are not watched; the clients themselves go on.`,
    },
    {
      ...common,
      name: 'ExporterAbsent',
      scope: 'job',
      expr: `absent_over_time(up{job="${job}"}[${duration(durations.pageWindow)}]) == 1`,
      pending: durations.exporterAbsentFor,
      summary: 'Prometheus knows no redis-lock-exporter at all',
      says: 'no target of this job exists: service discovery lost it, or it was never set up. No lock is watched, and no other alert of this pack can fire.',
    },
  ];
}
