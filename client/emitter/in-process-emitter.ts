import { type Clock, systemClock } from '../../contract/clock.js';
import type { LockEvent } from '../../contract/event.js';
import { BATCH_EVENTS } from './batch-encoder.js';
import type { Emitter, EmitterSource, EventChannel, PendingEvent } from './emitter.js';
import { DEFAULT_QUEUE_LIMIT, EventQueue } from './event-queue.js';
import { type ChannelStats, EventTally } from './event-tally.js';
import { Warnings, warnThroughNode } from './warnings.js';

/** Takes events in the order they were emitted. While a promise that it gave is pending, it is not called again. */
export type EventHandler = (events: LockEvent[]) => void | Promise<void>;

/** How much is kept for a slow sink, and who is told of its failures. */
export interface InProcessEmitterOptions {
  /** Most events kept while the sink is busy. Default 10,000. */
  readonly queueLimit?: number;
  readonly clock?: Clock;
  /** Told at most once in ten minutes. Default: a process warning of type `RedisLockWarning`. */
  readonly onWarning?: (message: string) => void;
}

/** An emitter whose channels tell what became of their events; `accepted` means that the sink did not fail. */
export interface InProcessEmitter extends Emitter {
  open(source: EmitterSource): EventChannel & { stats(): ChannelStats };
}

/**
 * Hands events to a function of this process: for tests, logs, or a way out of one's own. The sink runs in a
 * turn of the event loop of its own, so it may be slow or fail without the lock noticing; the events of a call
 * that failed count as `refused`. Not called for heartbeats and holds.
 */
export function createInProcessEmitter(
  sink: EventHandler,
  options: InProcessEmitterOptions = {},
): InProcessEmitter {
  const { queueLimit = DEFAULT_QUEUE_LIMIT, clock = systemClock(), onWarning = warnThroughNode } = options;
  const warnings = new Warnings(clock, onWarning);
  return { open: () => new InProcessChannel(sink, queueLimit, clock, warnings) };
}

class InProcessChannel implements EventChannel {
  readonly #sink: EventHandler;
  readonly #clock: Clock;
  readonly #warnings: Warnings;
  readonly #tally = new EventTally();
  readonly #queue: EventQueue;
  #scheduled = false;
  #inSink = 0;
  #closed = false;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(sink: EventHandler, queueLimit: number, clock: Clock, warnings: Warnings) {
    this.#sink = sink;
    this.#clock = clock;
    this.#warnings = warnings;
    this.#queue = new EventQueue(queueLimit);
  }

  emit(event: PendingEvent): void {
    this.#tally.emitted += 1;
    if (this.#closed) {
      this.#tally.drop('shutdown');
      return;
    }
    if (!this.#queue.push(event)) this.#tally.drop('queue_full');
    this.#schedule();
  }

  holdsChanged(): void {}

  stats(): ChannelStats {
    return this.#tally.stats(this.#queue.length + this.#inSink);
  }

  close(timeoutMs = 1000): Promise<void> {
    this.#closing ??= this.#whenIdle(timeoutMs).then(() => {
      this.#closed = true;
      this.#tally.drop('shutdown', this.#queue.clear() + this.#inSink);
      this.#inSink = 0;
    });
    return this.#closing;
  }

  #whenIdle(timeoutMs: number): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      const limit = this.#clock.setTimer(resolve, timeoutMs);
      this.#onIdle = () => {
        limit.cancel();
        resolve();
      };
    });
  }

  get #isIdle(): boolean {
    return this.#queue.length === 0 && this.#inSink === 0;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#deliver());
  }

  /** Delivers until nothing is left. Never rejects. */
  async #deliver(): Promise<void> {
    while (this.#queue.length > 0) {
      const events = this.#take();
      this.#inSink = events.length;
      const taken = events.length === 0 || (await this.#call(events));
      // After close the events in the sink are counted already.
      if (this.#closed) return;
      if (taken) this.#tally.accepted += events.length;
      else this.#tally.drop('refused', events.length);
      this.#inSink = 0;
    }
    this.#scheduled = false;
    this.#onIdle?.();
  }

  async #call(events: LockEvent[]): Promise<boolean> {
    try {
      await this.#sink(events);
      return true;
    } catch (error) {
      this.#warnings.say(
        'sink',
        `the sink of lock events failed, and its events are dropped: ${String(error)}`,
      );
      return false;
    }
  }

  #take(): LockEvent[] {
    const events: LockEvent[] = [];
    while (events.length < BATCH_EVENTS) {
      const pending = this.#queue.shift();
      if (pending === undefined) break;
      try {
        events.push(pending.encode());
      } catch {
        this.#tally.drop('encode_failed');
      }
    }
    return events;
  }
}
