import type { EventKind } from '../../contract/event.js';
import { DROP_REASONS, type DropReason } from '../../contract/outcomes.js';
import type { BatchResult, RejectReason } from '../../contract/refusals.js';
import type { EXPORTER_FAMILIES } from './catalogue-exporter.js';
import type { FamiliesOf } from './families.js';
import { OTHER_WORD, WordCounter } from './word-counter.js';

export type ExporterFamilies = FamiliesOf<typeof EXPORTER_FAMILIES>;

/** A reason of `Batch.dropped`, or `other` for all that this version does not know. */
export type ProducerDropReason = DropReason | typeof OTHER_WORD;

/**
 * What ingest counts about itself. Counts are whole numbers above 0, except `producers`, a level.
 * Always: received = accepted + rejected + duplicate, in events of batches that could be read.
 */
export interface IngestCounters {
  batch(result: BatchResult): void;
  /** Events of a batch that could be read, whatever becomes of them. */
  eventsReceived(count: number): void;
  eventAccepted(kind: EventKind): void;
  eventRejected(reason: RejectReason): void;
  /** Events in resends, and in batches that came too late to be told from one. */
  eventsDuplicate(count: number): void;
  producerDropped(reason: ProducerDropReason, count: number): void;
  /** Batches that a producer numbered and that were never taken here; refused ones are among them. */
  seqGap(count: number): void;
  /** Producers known. */
  producers(count: number): void;
  /** Producers forgotten: silent for too long, or the least recently heard of when the table was full. */
  producersForgotten(count: number): void;
}

/** What was counted since the start. */
export interface IngestTotals {
  /** By result; those that never came are left out. */
  readonly batches: Readonly<Record<string, number>>;
  readonly events: {
    readonly received: number;
    readonly accepted: number;
    readonly rejected: number;
    readonly duplicate: number;
  };
  /** Producers known now. */
  readonly producers: number;
}

/** The counters of ingest, on the exporter's own families, and a look at them. */
export function createIngestCounters(
  families: ExporterFamilies,
): IngestCounters & { totals(): IngestTotals } {
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
  let known = 0;
  producers.set(known);
  return {
    batch: (result) => void batches.inc(result),
    eventsReceived: (count) => void received.inc(count),
    eventAccepted: (kind) => void accepted.inc(kind),
    eventRejected: (reason) => void rejected.inc(reason),
    eventsDuplicate: (count) => void duplicate.inc(count),
    producerDropped: (reason, count) =>
      void dropped.inc(dropReasons.has(reason) ? reason : OTHER_WORD, count),
    seqGap: (count) => void gaps.inc(count),
    producers: (count) => {
      known = count;
      producers.set(count);
    },
    producersForgotten: (count) => void forgotten.inc(count),
    totals: () => ({
      batches: batches.values(),
      events: {
        received: received.value,
        accepted: sum(accepted),
        rejected: sum(rejected),
        duplicate: duplicate.value,
      },
      producers: known,
    }),
  };
}

function sum(counter: WordCounter): number {
  return Object.values(counter.values()).reduce((total, count) => total + count, 0);
}
