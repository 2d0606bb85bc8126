import { DROP_REASONS } from '../../contract/outcomes.js';
import type { EXPORTER_FAMILIES } from './catalogue-exporter.js';
import type { FamiliesOf } from './families.js';
import type { IngestCounters } from './ports.js';
import { OTHER_WORD, WordCounter } from './word-counter.js';

export type ExporterFamilies = FamiliesOf<typeof EXPORTER_FAMILIES>;

/** The counters of ingest, on the exporter's own families. */
export function createIngestCounters(families: ExporterFamilies): IngestCounters {
  const batches = new WordCounter(families.exporter_batches_total);
  const received = families.exporter_events_received_total.child([]);
  const accepted = new WordCounter(families.exporter_events_total);
  const rejected = new WordCounter(families.exporter_events_rejected_total);
  const duplicate = families.exporter_events_duplicate_total.child([]);
  const dropped = new WordCounter(families.exporter_producer_dropped_total);
  const gaps = families.exporter_seq_gaps_total.child([]);
  const producers = families.exporter_producers.child([]);
  const forgotten = families.exporter_producers_forgotten_total.child([]);
  const dropReasons = new Set<string>(DROP_REASONS);
  producers.set(0);
  return {
    batch: (result) => void batches.inc(result),
    eventsReceived: (count) => void received.inc(count),
    eventAccepted: (kind) => void accepted.inc(kind),
    eventRejected: (reason) => void rejected.inc(reason),
    eventsDuplicate: (count) => void duplicate.inc(count),
    producerDropped: (reason, count) =>
      void dropped.inc(dropReasons.has(reason) ? reason : OTHER_WORD, count),
    seqGap: (count) => void gaps.inc(count),
    producers: (count) => void producers.set(count),
    producersForgotten: (count) => void forgotten.inc(count),
  };
}
