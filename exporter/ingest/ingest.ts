import type { Answer, Envelope, Refusal, RejectedEvent } from '../../contract/batch.js';
import type { Clock } from '../../contract/clock.js';
import type { LockEvent } from '../../contract/event.js';
import type { BatchResult, RefusalId } from '../../contract/refusals.js';
import type { BatchContext, IngestPorts } from './ports.js';
import { type Producer, type ProducerLimits, ProducerTable } from './producers.js';
import { readEnvelope } from './read-envelope.js';
import { type EventsRead, readEvents } from './read-event.js';
import { RejectionMemory } from './rejection-memory.js';

/** What an ingest needs. */
export interface IngestOptions {
  /** The one store whose batches are taken. */
  readonly store: string;
  /** Random name of this exporter's run, 1 to 64 characters: goes back with each answer. */
  readonly epoch: string;
  readonly clock: Clock;
  readonly ports: IngestPorts;
  readonly limits?: Partial<ProducerLimits>;
}

/** The answer to a batch, as the transport is to give it. A refusal is final: the same body would be refused again. */
export type IngestResult =
  | { readonly status: 200; readonly answer: Answer }
  | { readonly status: 400; readonly refusal: Refusal };

/** The way in for events, whatever the transport. */
export interface Ingest {
  /**
   * Takes one batch: what `JSON.parse` made of a body. Never throws.
   *
   * Events are checked one by one; a bad one costs only itself. A batch whose (producer, seq) was seen before is
   * answered with the first answer's counts and changes nothing. One too far back to tell is answered as if it
   * had been taken, and counted as duplicate. A batch of another store is refused as a whole: its locks are not
   * this exporter's, and would be counted under a wrong name.
   */
  receive(body: unknown): IngestResult;
  /**
   * Forgets producers silent for too long. Each batch does so too; call it now and then so that the number of
   * producers falls also when nothing comes at all.
   */
  forgetIdle(): void;
}

const DEFAULT_LIMITS: ProducerLimits = {
  /** About 3 KB each. More clients than that do not post to one exporter. */
  maxProducers: 10_000,
  /** A client that holds nothing and does nothing sends nothing; after an hour its resends are over for sure. */
  idleMs: 3_600_000,
};

/** Emitters that work their start out anew for each batch may differ by this much without being another run. */
const SAME_START_MS = 1000;

/** Makes an ingest that knows no producer yet. */
export function createIngest(options: IngestOptions): Ingest {
  return new BatchIngest(options);
}

class BatchIngest implements Ingest {
  readonly #store: string;
  readonly #epoch: string;
  readonly #clock: Clock;
  readonly #ports: IngestPorts;
  readonly #producers: ProducerTable;
  readonly #rejections = new RejectionMemory();

  constructor(options: IngestOptions) {
    this.#store = options.store;
    this.#epoch = options.epoch;
    this.#clock = options.clock;
    this.#ports = options.ports;
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#producers = new ProducerTable(limits, (producer) => this.#countForgotten(producer));
  }

  receive(body: unknown): IngestResult {
    const read = readEnvelope(body);
    if (!('envelope' in read)) return this.#refuse('bad_envelope', read.message);
    const { envelope } = read;
    if (envelope.store !== this.#store) return this.#refuse('wrong_store', this.#tellStores(envelope.store));
    const nowMonoMs = this.#clock.monoMs();
    this.#producers.forgetIdle(nowMonoMs);
    const producer = this.#meet(envelope, nowMonoMs);
    const fresh = producer.window.look(envelope.seq) === 'new' && !isOfEarlierRun(envelope, producer);
    const answer = fresh ? this.#take(envelope, producer, nowMonoMs) : this.#repeat(envelope, producer);
    this.#count((counters) => counters.producers(this.#producers.size));
    return { status: 200, answer };
  }

  forgetIdle(): void {
    this.#producers.forgetIdle(this.#clock.monoMs());
    this.#count((counters) => counters.producers(this.#producers.size));
  }

  /** The batch's producer: known, or new by its name or by its start. */
  #meet(envelope: Envelope, nowMonoMs: number): Producer {
    const known = this.#producers.hear(envelope.producer, nowMonoMs);
    if (known && !isOfLaterRun(envelope, known)) return known;
    const { producer: name, startedAtMs, seq, dropped } = envelope;
    const producer = this.#producers.add(name, startedAtMs, seq, nowMonoMs);
    // Drops from before the first batch seen here may have been counted elsewhere: they are where counting starts.
    if (seq > 1) producer.drops.advance(dropped);
    return producer;
  }

  #take(envelope: Envelope, producer: Producer, nowMonoMs: number): Answer {
    const events = readEvents(envelope.events);
    const counts = { accepted: events.accepted.length, rejected: events.rejected.length };
    const gaps = producer.window.take(envelope.seq, counts);
    this.#rejections.remember(envelope.producer, envelope.seq, events.rejected);
    this.#countTaken(envelope, events, gaps, producer);
    this.#handOn(envelope, events.accepted, nowMonoMs);
    return this.#answer(counts.accepted, events.rejected, false);
  }

  #repeat(envelope: Envelope, producer: Producer): Answer {
    const { producer: name, seq, events } = envelope;
    this.#count((counters) => {
      counters.batch('duplicate');
      if (events.length === 0) return;
      counters.eventsReceived(events.length);
      counters.eventsDuplicate(events.length);
    });
    const first = isOfEarlierRun(envelope, producer) ? undefined : producer.window.recall(seq);
    if (first?.rejected === 0) return this.#answer(first.accepted, [], true);
    const remembered = first && this.#rejections.recall(name, seq);
    if (first && remembered) return this.#answer(first.accepted, remembered, true);
    // No longer remembered: a resend has the same body, and the same body is judged alike.
    const again = readEvents(events);
    return this.#answer(first?.accepted ?? again.accepted.length, again.rejected, true);
  }

  #answer(accepted: number, rejected: readonly RejectedEvent[], duplicate: boolean): Answer {
    return { epoch: this.#epoch, accepted, rejected: [...rejected], duplicate };
  }

  #handOn(envelope: Envelope, events: readonly LockEvent[], nowMonoMs: number): void {
    const context = readContext(envelope, nowMonoMs);
    const { events: eventPort, holds: holdsPort, heartbeat } = this.#ports;
    for (const event of events) this.#guard(() => eventPort.applyEvent(event, context));
    const { holds } = envelope;
    if (holds) this.#guard(() => holdsPort.applyHolds(holds, envelope.holdsMore !== true, context));
    this.#guard(() => heartbeat.heartbeat(context));
  }

  #countTaken(envelope: Envelope, events: EventsRead, gaps: number, producer: Producer): void {
    this.#count((counters) => {
      counters.batch('accepted');
      if (envelope.events.length > 0) counters.eventsReceived(envelope.events.length);
      for (const { kind } of events.accepted) counters.eventAccepted(kind);
      for (const reason of events.reasons) counters.eventRejected(reason);
      if (gaps > 0) counters.seqGap(gaps);
      for (const [reason, count] of producer.drops.advance(envelope.dropped)) {
        counters.producerDropped(reason, count);
      }
    });
  }

  #countForgotten(producer: Producer): void {
    this.#count((counters) => {
      counters.producersForgotten(1);
      const gaps = producer.window.openGaps();
      if (gaps > 0) counters.seqGap(gaps);
    });
  }

  #refuse(id: BatchResult & RefusalId, message: string): IngestResult {
    this.#count((counters) => counters.batch(id));
    return { status: 400, refusal: { error: { id, message } } };
  }

  /** Short, since clients quote it in their warnings. */
  #tellStores(other: string): string {
    return (
      `The batch is of store "${other}", this exporter keeps "${this.#store}": ` +
      `set the client's store to "${this.#store}", or start the exporter with --store ${other}`
    );
  }

  #count(report: (counters: IngestPorts['counters']) => void): void {
    this.#guard(() => report(this.#ports.counters));
  }

  /** A fault of another room must cost neither the batch nor the process. */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#ports.reportFault(error);
    }
  }
}

/** An emitter that keeps its name over a restart numbers from 1 again: without this all would look like resends. */
function isOfLaterRun(envelope: Envelope, known: Producer): boolean {
  return envelope.startedAtMs - known.startedAtMs >= SAME_START_MS && envelope.seq <= known.window.highest;
}

function isOfEarlierRun(envelope: Envelope, known: Producer): boolean {
  return known.startedAtMs - envelope.startedAtMs >= SAME_START_MS;
}

function readContext(envelope: Envelope, receivedMonoMs: number): BatchContext {
  const { store, producer, seq, app, instance, startedAtMs, sentAtMs, serverId } = envelope;
  const closing = envelope.closing === true;
  return { store, producer, seq, app, instance, startedAtMs, sentAtMs, serverId, receivedMonoMs, closing };
}
