import type { Answer } from '../../contract/batch.js';
import type { Clock, Random, Timer } from '../../contract/clock.js';
import { BATCH_EVENTS, BatchEncoder, type EncodedBatch, type ProducerIdentity } from './batch-encoder.js';
import { BatchSender, type PostPort } from './batch-sender.js';
import type { EmitterSource, EventChannel, PendingEvent } from './emitter.js';
import { encodeEvent } from './encode-event.js';
import { EncodedQueue } from './encoded-queue.js';
import { type ChannelStats, EventTally } from './event-tally.js';
import { Heartbeat } from './heartbeat.js';
import { HoldsReport } from './holds-report.js';
import { quote } from './verdict.js';
import type { Warnings } from './warnings.js';

/** Longest time that an event which is not urgent waits for company. */
export const GATHER_MS = 250;
/** Default time that `close` may take. */
export const DEFAULT_CLOSE_MS = 1000;

/** Events of one turn that are kept as objects; more are encoded at once, so that a flood stays bounded. */
const TURN_EVENTS = 256;

/** No flush keeps a process alive for longer, whatever time it was given. */
const MAX_ALIVE_MS = 600_000;

/** A channel that also tells what became of its events. */
export interface HttpEventChannel extends EventChannel {
  stats(): ChannelStats;
}

/** What a channel is made of. */
export interface HttpChannelParts {
  readonly identity: ProducerIdentity;
  readonly source: EmitterSource;
  readonly port: PostPort & { close(): void };
  readonly queueLimit: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly warnings: Warnings;
  /** Where it posts, for warnings. */
  readonly address: string;
  /** Called once, when the channel is closed. */
  onClosed(channel: HttpChannel): void;
}

interface Drain {
  readonly givesUpOnFailure: boolean;
  end(): void;
}

/**
 * The way of one lock client's events to the exporter: queue, batch, one post at a time.
 *
 * A batch is *due* when an urgent event came, when ordinary ones waited long enough or fill a batch, when the
 * holds need a heartbeat, or when the exporter has to be told something. A due batch is built as soon as none
 * is under way, so it always tells the newest state, and nothing piles up but the bounded queue.
 */
export class HttpChannel implements HttpEventChannel {
  readonly #parts: HttpChannelParts;
  readonly #tally = new EventTally();
  readonly #queue: EncodedQueue;
  /** Emitted in this turn of the event loop, and not encoded yet. */
  #turn: PendingEvent[] = [];
  readonly #turnLimit: number;
  /** Being encoded right now. */
  #encoding = 0;
  readonly #holds: HoldsReport;
  readonly #encoder: BatchEncoder;
  readonly #sender: BatchSender;
  readonly #heartbeat: Heartbeat;
  #due = false;
  #gathering: Timer | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #dropsReported = 0;
  #drain: Drain | undefined;
  #drainedAtExit = 0;
  #closing: Promise<void> | undefined;
  #closed = false;
  #goodbyeOwed = false;

  constructor(parts: HttpChannelParts) {
    const { identity, source, port, clock, random, queueLimit } = parts;
    this.#parts = parts;
    this.#queue = new EncodedQueue(queueLimit);
    this.#turnLimit = Math.min(TURN_EVENTS, queueLimit);
    this.#holds = new HoldsReport(source, clock);
    this.#encoder = new BatchEncoder(identity, source.store, this.#tally, clock);
    this.#heartbeat = new Heartbeat(clock, source, () => this.#wantBatch());
    this.#sender = new BatchSender(port, clock, random, {
      done: (batch, answer) => this.#onDone(batch, answer),
      refused: (batch, text) => this.#onRefused(batch, text),
      failed: (text) => this.#onFailed(text),
    });
  }

  emit(event: PendingEvent): void {
    this.#tally.emitted += 1;
    if (this.#closed) {
      this.#tally.drop('shutdown');
      return;
    }
    // Encoded when the lock operation has gone on: a lone caller's next command is then on its way already.
    if (this.#turn.push(event) === 1) process.nextTick(this.#encodeTurn);
    if (this.#turn.length >= this.#turnLimit) this.#encodeTurn();
  }

  holdsChanged(): void {
    if (!this.#closed) this.#heartbeat.holdsChanged();
  }

  stats(): ChannelStats {
    return this.#tally.stats(
      this.#encoding + this.#turn.length + this.#queue.length + (this.#sender.batch?.events ?? 0),
    );
  }

  close(timeoutMs: number = DEFAULT_CLOSE_MS): Promise<void> {
    this.#encodeTurn();
    this.#closing ??= this.#sayGoodbye(timeoutMs).then(() => this.#shut());
    return this.#closing;
  }

  /**
   * For the end of the process: sends what is left, for at most `timeoutMs`, and gives up at the first failure.
   * Does nothing when nothing was emitted since the last call, so that the process does end.
   */
  flushAtExit(timeoutMs: number): void {
    this.#encodeTurn();
    const { emitted } = this.#tally;
    if (this.#drain || this.#settled || this.#drainedAtExit === emitted) return;
    this.#drainedAtExit = emitted;
    void this.#flush(timeoutMs, true);
  }

  /**
   * The last batch tells that the producer ends in order, so that it does not look dead. When that is all there is
   * to tell, one failure is enough to give it up: an exporter that is down must not delay the end of a process.
   */
  #sayGoodbye(timeoutMs: number): Promise<void> {
    const onlyGoodbye = this.#settled;
    if (!this.#encoder.started && onlyGoodbye) return Promise.resolve();
    this.#goodbyeOwed = true;
    this.#encoder.sayGoodbye();
    return this.#flush(timeoutMs, onlyGoodbye);
  }

  /** Nothing is left to be told. */
  get #settled(): boolean {
    const idle = this.#sender.batch === undefined && this.#queue.length + this.#turn.length === 0;
    const told = !this.#holds.unfinished && this.#dropsReported === this.#tally.dropTotal;
    return idle && told && !this.#goodbyeOwed;
  }

  #flush(timeoutMs: number, givesUpOnFailure: boolean): Promise<void> {
    if (this.#settled || timeoutMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const limit = this.#parts.clock.setTimer(() => drain.end(), timeoutMs);
      // Nothing else that the channel does keeps the process alive; this flush may, for its time.
      const alive = setTimeout(() => {}, Math.min(timeoutMs, MAX_ALIVE_MS));
      const drain: Drain = {
        givesUpOnFailure,
        end: () => {
          limit.cancel();
          clearTimeout(alive);
          if (this.#drain === drain) this.#drain = undefined;
          resolve();
        },
      };
      this.#drain?.end();
      this.#drain = drain;
      this.#sender.hurry();
      if (this.#sender.batch === undefined) this.#wantBatch();
    });
  }

  #shut(): void {
    this.#closed = true;
    this.#encodeTurn();
    this.#heartbeat.stop();
    this.#stopGathering();
    clearImmediate(this.#scheduled);
    const left = (this.#sender.abandon()?.events ?? 0) + this.#queue.clear();
    this.#tally.drop('shutdown', left);
    this.#parts.port.close();
    this.#parts.onClosed(this);
  }

  /** Encodes what was emitted since the last time. */
  readonly #encodeTurn = (): void => {
    if (this.#turn.length === 0) return;
    const server = this.#ask(() => this.#parts.source.server());
    const turn = this.#turn;
    this.#turn = [];
    this.#encoding += turn.length;
    let urgent = false;
    for (const pending of turn) {
      const event = encodeEvent(pending, server);
      this.#encoding -= 1;
      if (typeof event === 'string') this.#tally.drop(event);
      else if (!this.#queue.push(event)) this.#onOverflow();
      urgent ||= pending.urgent;
    }
    if (this.#closed) return;
    if (urgent || this.#queue.length >= BATCH_EVENTS) this.#wantBatch();
    else this.#gather();
  };

  /** Lets ordinary events wait for company; one timer for all of them. */
  #gather(): void {
    if (this.#due || this.#gathering) return;
    this.#gathering = this.#parts.clock.setTimer(() => this.#wantBatch(), GATHER_MS);
  }

  #stopGathering(): void {
    this.#gathering?.cancel();
    this.#gathering = undefined;
  }

  /** The batch is built in a turn of its own: the lock operation goes on first, and events of one turn travel together. */
  #wantBatch(): void {
    this.#due = true;
    if (this.#sender.batch || this.#scheduled || this.#closed) return;
    this.#scheduled = setImmediate(() => {
      this.#scheduled = undefined;
      this.#sendIfDue();
    });
  }

  #sendIfDue(): void {
    if (!this.#due || this.#sender.batch || this.#closed) return;
    this.#due = false;
    this.#stopGathering();
    const batch = this.#buildBatch();
    this.#heartbeat.sent();
    // What did not fit is due as well when it fills a batch or cannot wait; else it waits for company like any other.
    if (this.#holds.unfinished || this.#queue.hasUrgent || this.#queue.length >= BATCH_EVENTS)
      this.#due = true;
    else if (this.#queue.length > 0) this.#gather();
    this.#sender.send(batch);
  }

  #buildBatch(): EncodedBatch {
    this.#encodeTurn();
    const server = this.#ask(() => this.#parts.source.server());
    // What was emitted before the connection changed goes first and alone: a batch names one server for all that names
    // none. What else is to be told follows. A set of holds that was begun is sent to its end before.
    const isOlder = this.#queue.length > 0 && this.#queue.server !== server;
    if (isOlder && !this.#holds.unfinished) {
      this.#due = true;
      return this.#encoder.encode(this.#queue, true, undefined, this.#queue.server?.id);
    }
    const holds = this.#ask(() => this.#holds.take(this.#tally.dropTotal));
    // An event emitted after the holds were read must not overtake the rest of them: its release would be undone.
    const eventsMayTravel = !holds || (holds.first && !this.#holds.alone);
    return this.#encoder.encode(this.#queue, eventsMayTravel, holds, (holds?.server ?? server)?.id);
  }

  /** The lock client promises not to throw when it is asked. Should it do so, events go on, and the lock never learns. */
  #ask<T>(question: () => T | undefined): T | undefined {
    try {
      return question();
    } catch (error) {
      this.#warn(
        `source: ${String(error)}`,
        'is not told all: the lock client failed to list its holds, or to name its server',
      );
      return undefined;
    }
  }

  #onDone(batch: EncodedBatch, answer: Answer): void {
    // Counted from the batch: an answer of wrong counts must not unbalance the books.
    const rejected = new Set(answer.rejected.map(({ index }) => index).filter((at) => at < batch.events))
      .size;
    this.#tally.rejected += rejected;
    this.#tally.accepted += batch.events - rejected;
    this.#dropsReported = batch.dropTotal;
    if (batch.closing) this.#goodbyeOwed = false;
    for (const { path, message } of answer.rejected) {
      const fault = quote(`${path}: ${message}`);
      this.#warn(
        `rejected: ${fault}`,
        `rejected an event (${fault}); client and exporter may be of different versions`,
      );
    }
    // A new run of the exporter is unsure about this producer until it has the set, also when the set is empty.
    this.#next(this.#holds.answered(batch.holds, answer.epoch));
  }

  #onRefused(batch: EncodedBatch, text: string): void {
    this.#holds.refused(batch.holds);
    this.#tally.drop('refused', batch.events);
    if (batch.closing) this.#goodbyeOwed = false;
    // Drops that were refused on their own are not told over and over.
    if (batch.events === 0) this.#dropsReported = batch.dropTotal;
    this.#warn(
      `refused: ${text}`,
      `refused a batch of ${batch.events} events, which are dropped: it ${text}`,
    );
    // The drop is told without waiting for another event.
    this.#next(batch.events > 0);
  }

  #onFailed(text: string): void {
    this.#warn(`failed: ${text}`, `takes no events now (${text}); they wait in a bounded queue`);
    if (this.#drain?.givesUpOnFailure) this.#drain.end();
  }

  #onOverflow(): void {
    this.#tally.drop('queue_full');
    const { queueLimit } = this.#parts;
    this.#warn(
      'queue_full',
      `takes events too slowly or not at all: the queue of ${queueLimit} is full, and the oldest are dropped`,
    );
  }

  /** A batch is settled: the next one may go. */
  #next(wanted: boolean): void {
    if (this.#drain && this.#settled) this.#drain.end();
    if (wanted || (this.#drain && !this.#settled)) this.#due = true;
    this.#sendIfDue();
  }

  #warn(subject: string, message: string): void {
    this.#parts.warnings.say(subject, `redis-lock-exporter at ${this.#parts.address} ${message}`);
  }
}
