import { AT_RESOURCE, counter, fault, gauge, type Line, ONSET, once, TARGET } from './lines.js';
import { policyLine } from './policy-line.js';
import type { Proof } from './proof.js';

const WARNING = { severity: 'warning', page: 'false', signal: 'state' };

/** Alerts on the watcher. */
export const EXPORTER_PROOFS: readonly Proof[] = [
  eventsMissing(),
  unsureHolders(),
  incomplete({
    alert: 'EventsDropped',
    counter: 'redis_lock_exporter_producer_dropped_total',
    more: { reason: 'queue_full' },
    notYet: 73,
    firesAt: 76,
    says: 'clients report about 1 events dropped within 30m (reason queue_full). Counts of this time are too low, losses among them.',
    silent: {
      'clients that ended with a full queue': [
        counter(
          'redis_lock_exporter_producer_dropped_total',
          { ...TARGET, reason: 'shutdown' },
          fault(0, 50),
        ),
      ],
    },
  }),
  incomplete({
    alert: 'EventsRejected',
    counter: 'redis_lock_exporter_events_rejected_total',
    more: { reason: 'missing_field' },
    notYet: 73,
    firesAt: 76,
    says: 'about 1 events within 30m were refused (reason missing_field): an emitter of another version, or one written by hand, has a fault.',
  }),
  incomplete({
    alert: 'SeqGaps',
    counter: 'redis_lock_exporter_seq_gaps_total',
    notYet: 78,
    firesAt: 81,
    says: 'about 1 batches within 30m never arrived although their client went on sending.',
  }),
  incomplete({
    alert: 'LabelOverflow',
    counter: 'redis_lock_exporter_label_overflow_total',
    more: { label: 'resource' },
    notYet: 83,
    firesAt: 86,
    says: 'about 1 events or sampled resources within 30m were counted under "__other__" (label resource). Resources without series of their own are not alerted on by name.',
  }),
  exporterDown(),
  exporterAbsent(),
];

interface Incomplete extends Pick<Proof, 'alert' | 'notYet' | 'firesAt' | 'says'> {
  counter: string;
  more?: Readonly<Record<string, string>>;
  silent?: Proof['silent'];
}

function incomplete({ counter: metric, more = {}, silent = {}, ...given }: Incomplete): Proof {
  const line = (growth: (now: number) => number) => counter(metric, { ...TARGET, ...more }, growth);
  return {
    ...given,
    why: 'Once is enough; it stays visible for half an hour.',
    lines: [line(once())],
    stillAt: 97,
    goneAt: 103,
    labels: { ...WARNING, subject: 'events', ...more },
    scope: 'job',
    silent: { 'nothing new': [line(() => 0)], ...silent },
  };
}

function eventsMissing(): Proof {
  const handovers = counter('redis_lock_observed_handovers_total', AT_RESOURCE, fault(0, 1));
  const acquires = (growth: (now: number) => number) =>
    counter('redis_lock_acquire_total', { ...AT_RESOURCE, mode: 'wait' }, growth);
  return {
    alert: 'EventsMissing',
    why: 'Handovers every minute from minute 70 on, and no acquire was ever reported.',
    lines: [handovers],
    notYet: 78,
    firesAt: 81,
    labels: { ...WARNING, subject: 'events' },
    scope: 'store',
    says: 'locks went from holder to holder (about 12 times in the busiest resource within 15m), and not one acquire was reported. Lost locks and overlaps would not be seen: everything looks green.',
    silent: {
      'one client reports': [handovers, acquires((now) => (now % 10 === 0 ? 1 : 0))],
      'locks of another library': [handovers, policyLine({ events: 'none' })],
      'nothing changes hands': [counter('redis_lock_observed_handovers_total', AT_RESOURCE, () => 0)],
    },
    alsoFires: {
      'clients reported until the handovers began': [
        handovers,
        acquires((now) => (now < ONSET - 20 ? 1 : 0)),
      ],
    },
  };
}

function unsureHolders(): Proof {
  const shares = (holders: number, unsure: number): Line[] => [
    gauge('redis_lock_holders', AT_RESOURCE, () => holders),
    gauge('redis_lock_unsure_holders', AT_RESOURCE, fault(0, unsure)),
  ];
  return {
    alert: 'UnsureHolders',
    why: 'Five holds are the floor; 0.55 of them (11 %) are unsure from minute 70 on.',
    lines: shares(5, 0.55),
    notYet: 85,
    firesAt: 88,
    labels: { ...WARNING, subject: 'events' },
    scope: 'store',
    says: 'nothing can be said about 11% of the holds: their clients did not send their full list since a restart or a gap.',
    silent: { 'exactly one in ten': shares(100, 10), 'four holds, all unsure': shares(4, 4) },
    skip: { traffic: 'it looks at a state, not at traffic' },
  };
}

function exporterDown(): Proof {
  const up = (labels: Readonly<Record<string, string>>) => gauge('up', { ...TARGET, ...labels }, fault(1, 0));
  return {
    alert: 'ExporterDown',
    why: 'The last good scrape was in minute 69: none in the window from minute 72 on, for 5 minutes.',
    lines: [up({})],
    notYet: 75,
    firesAt: 78,
    labels: { ...WARNING, subject: 'exporter' },
    scope: 'instance',
    says: 'Prometheus has not reached it for 7m or longer. The locks of its clients are not watched; the clients themselves go on.',
    silent: {
      'a target of another job': [up({ job: 'node' })],
      'every second scrape fails': [gauge('up', TARGET, (now) => now % 2)],
    },
    skip: {
      gap: 'a failed scrape is what it looks for',
      traffic: 'it looks at a state',
      restart: 'a restart is a failed scrape',
    },
  };
}

function exporterAbsent(): Proof {
  const gone: Line = {
    metric: 'up',
    labels: TARGET,
    values: gauge('up', TARGET, () => 1).values.map((value, now) =>
      now < ONSET ? value : now === ONSET ? 'stale' : '_',
    ),
  };
  return {
    alert: 'ExporterAbsent',
    why: 'The only target vanishes in minute 70: unseen for 5 minutes, then for 10.',
    lines: [gone, { ...gauge('up', { ...TARGET, job: 'node' }, () => 1) }],
    notYet: 83,
    firesAt: 87,
    labels: { ...WARNING, subject: 'exporter' },
    scope: 'job',
    says: 'no target of this job exists: service discovery lost it, or it was never set up. No lock is watched, and no other alert of this pack can fire.',
    silent: { 'a target that is down': [gauge('up', TARGET, () => 0)] },
    skip: {
      gap: 'up has no gaps: Prometheus writes it itself',
      restart: 'likewise',
      traffic: 'likewise',
      cluster: 'absent keeps only the labels it asks for',
    },
  };
}
