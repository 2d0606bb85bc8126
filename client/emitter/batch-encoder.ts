import { CONTRACT_VERSION, MAX_BATCH_EVENTS, MAX_BODY_BYTES } from '../../contract/batch.js';
import type { Clock } from '../../contract/clock.js';
import type { EncodedQueue } from './encoded-queue.js';
import type { EventTally } from './event-tally.js';
import type { HoldsPart } from './holds-report.js';

/**
 * Most events that the client puts into one batch: half of what the contract allows, so that building a batch
 * does not hold up the application's event loop for much more than a millisecond.
 */
export const BATCH_EVENTS = MAX_BATCH_EVENTS / 2;

/** Room kept for the envelope; its fields are bounded well below. */
const ENVELOPE_BYTES = 16_384;

/** Behind the events. */
const END = Buffer.from(']}');

/** A batch as it goes over the wire, however often. */
export interface EncodedBatch {
  readonly seq: number;
  readonly body: Buffer;
  /** Number of events in it. */
  readonly events: number;
  readonly holds: HoldsPart | undefined;
  /** It says goodbye. */
  readonly closing: boolean;
  /** Drops that it reports, in total. */
  readonly dropTotal: number;
}

/** Who sends. All of it ends up in the envelope of each batch. */
export interface ProducerIdentity {
  readonly producer: string;
  readonly startedAtMs: number;
  readonly app: string;
  readonly instance: string;
}

/** Builds batches that keep to the contract's limits. Each takes the next number. */
export class BatchEncoder {
  readonly #identity: ProducerIdentity;
  readonly #store: string;
  readonly #tally: EventTally;
  readonly #clock: Clock;
  #seq = 0;
  #closing = false;

  constructor(identity: ProducerIdentity, store: string, tally: EventTally, clock: Clock) {
    this.#identity = identity;
    this.#store = store;
    this.#tally = tally;
    this.#clock = clock;
  }

  /** A batch was built, so the exporter may know this producer. */
  get started(): boolean {
    return this.#seq > 0;
  }

  /** From now on the batch after which nothing is left says goodbye. */
  sayGoodbye(): void {
    this.#closing = true;
  }

  /**
   * Takes as many events from `queue` as fit; none when there are holds which they must not travel with.
   * @param serverId of the server that all mean which name none
   */
  encode(queue: EncodedQueue, withEvents: boolean, holds?: HoldsPart, serverId?: string): EncodedBatch {
    const room = MAX_BODY_BYTES - ENVELOPE_BYTES - (holds?.bytes ?? 0);
    const events = withEvents ? queue.take(BATCH_EVENTS, room) : { parts: [], count: 0 };
    const closing = this.#closing && queue.length === 0 && (holds?.last ?? true);
    const head = this.#envelope(serverId, holds, closing);
    this.#seq += 1;
    return {
      seq: this.#seq,
      body: Buffer.concat([Buffer.from(`${head},"events":[`), ...events.parts, END]),
      events: events.count,
      holds,
      closing,
      dropTotal: this.#tally.dropTotal,
    };
  }

  /** The batch up to its events, without the closing brace. */
  #envelope(serverId: string | undefined, holds: HoldsPart | undefined, isLast: boolean): string {
    const { producer, startedAtMs, app, instance } = this.#identity;
    const store = this.#store;
    const seq = this.#seq + 1;
    const sentAtMs = this.#clock.wallMs();
    const dropped = this.#tally.dropped();
    const v = CONTRACT_VERSION;
    const closing = isLast || undefined;
    const fields = {
      v,
      producer,
      startedAtMs,
      seq,
      sentAtMs,
      store,
      serverId,
      app,
      instance,
      dropped,
      closing,
    };
    const head = JSON.stringify(fields).slice(0, -1);
    if (!holds) return head;
    return `${head},"holds":${holds.json}${holds.last ? '' : ',"holdsMore":true'}`;
  }
}
