import { EVENT_KINDS } from '../../contract/event.js';
import { DROP_REASONS } from '../../contract/outcomes.js';
import { BATCH_RESULTS, REJECT_REASONS } from '../../contract/refusals.js';
import type { FamilyTable } from './family-spec.js';

const OWN = { source: 'exporter', birth: 'eager', stability: 'stable' } as const;
/** What a listener may refuse apart from batches, which have their own counter. */
const REFUSALS_OF = {
  metrics: ['overloaded', 'not_ready'],
  local: ['unauthorized', 'forbidden', 'bad_query', 'shutting_down'],
  both: [
    'too_many_connections',
    'request_timeout',
    'headers_too_large',
    'bad_request',
    'not_found',
    'method_not_allowed',
    'internal',
  ],
} as const;
const OWN_LAZY = { ...OWN, birth: 'lazy' } as const;

/** What the exporter says about itself. Not held back: these start at 0 with the process, before the first scrape. */
export const EXPORTER_FAMILIES = {
  exporter_build_info: {
    ...OWN,
    type: 'gauge',
    unit: 'info',
    labels: ['version'],
    help: 'Always 1; the version of the exporter is in the label.',
  },
  exporter_batches_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: ['result'],
    seeds: BATCH_RESULTS.map((result) => [result]),
    help: 'Batches of events that were posted, by how they were answered.',
  },
  exporter_requests_refused_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: ['listener', 'reason'],
    seeds: (['metrics', 'local'] as const).flatMap((listener) =>
      [...REFUSALS_OF[listener], ...REFUSALS_OF.both].map((reason) => [listener, reason]),
    ),
    help: 'Requests and connections refused, by listener and reason. Batches that were read far enough to be known as such are in redis_lock_exporter_batches_total instead.',
  },
  exporter_events_received_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: [],
    help: 'Events in batches that could be read. Equals accepted + rejected + duplicate events.',
  },
  exporter_events_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: ['kind'],
    seeds: EVENT_KINDS.map((kind) => [kind]),
    help: 'Events accepted, by kind.',
  },
  exporter_events_duplicate_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: [],
    help: 'Events in batches that had been seen before. They were not counted again.',
  },
  exporter_events_rejected_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: ['reason'],
    seeds: REJECT_REASONS.map((reason) => [reason]),
    help: 'Events refused one by one because they break the contract.',
  },
  exporter_producer_dropped_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: ['reason'],
    seeds: [...DROP_REASONS, 'other'].map((reason) => [reason]),
    help: 'Events that clients had to drop and never delivered, as they report it.',
  },
  exporter_seq_gaps_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: [],
    help: 'Batches missing between two batches of one client.',
  },
  exporter_producers: {
    ...OWN,
    type: 'gauge',
    unit: 'count',
    labels: [],
    help: 'Clients that posted within the last hour.',
  },
  exporter_producers_forgotten_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: [],
    help: 'Clients forgotten: silent for too long, or the least recent when there were too many.',
  },
  exporter_resources: {
    ...OWN,
    type: 'gauge',
    unit: 'count',
    labels: [],
    help: 'Distinct pairs of store and resource seen since the start, those folded into "__other__" included (up to 50,000 of them).',
  },
  exporter_label_overflow_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: ['label'],
    seeds: [['store'], ['resource']],
    help: 'Events, findings and sampled resources counted under "__other__" because there are too many distinct names.',
  },
  exporter_ledger_evicted_total: {
    ...OWN,
    type: 'counter',
    unit: 'count',
    labels: ['table'],
    seeds: [['holds'], ['ended'], ['producers'], ['timeline']],
    help: 'What was forgotten for want of room: holds that are on, holds that ended and are kept for late reports, clients, entries of timelines. What rests on it is not found any more.',
  },
  exporter_values_refused_total: {
    ...OWN_LAZY,
    type: 'counter',
    unit: 'count',
    labels: ['family'],
    help: 'Values that are not finite or below 0 and were left out of a family.',
  },
  exporter_render_errors_total: {
    ...OWN_LAZY,
    type: 'counter',
    unit: 'count',
    labels: ['family'],
    help: 'Families left out of a page of metrics because they could not be rendered.',
  },
} as const satisfies FamilyTable;
