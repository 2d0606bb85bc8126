import type { IngestCounters } from './ingest/ports.js';

/** What ingest counted since the start, for the status. */
export interface IngestCounts {
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

/** Hands every count on, and keeps the totals. */
export class IngestTally implements IngestCounters {
  readonly #onward: IngestCounters;
  readonly #batches = new Map<string, number>();
  readonly #events = { received: 0, accepted: 0, rejected: 0, duplicate: 0 };
  #producers = 0;

  constructor(onward: IngestCounters) {
    this.#onward = onward;
  }

  counts(): IngestCounts {
    return {
      batches: Object.fromEntries(this.#batches),
      events: { ...this.#events },
      producers: this.#producers,
    };
  }

  batch: IngestCounters['batch'] = (result) => {
    this.#batches.set(result, (this.#batches.get(result) ?? 0) + 1);
    this.#onward.batch(result);
  };

  eventsReceived: IngestCounters['eventsReceived'] = (count) => {
    this.#events.received += count;
    this.#onward.eventsReceived(count);
  };

  eventAccepted: IngestCounters['eventAccepted'] = (kind) => {
    this.#events.accepted += 1;
    this.#onward.eventAccepted(kind);
  };

  eventRejected: IngestCounters['eventRejected'] = (reason) => {
    this.#events.rejected += 1;
    this.#onward.eventRejected(reason);
  };

  eventsDuplicate: IngestCounters['eventsDuplicate'] = (count) => {
    this.#events.duplicate += count;
    this.#onward.eventsDuplicate(count);
  };

  producers: IngestCounters['producers'] = (count) => {
    this.#producers = count;
    this.#onward.producers(count);
  };

  producerDropped: IngestCounters['producerDropped'] = (reason, count) =>
    this.#onward.producerDropped(reason, count);

  seqGap: IngestCounters['seqGap'] = (count) => this.#onward.seqGap(count);

  producersForgotten = (count: number): void => this.#onward.producersForgotten?.(count);
}
