import type { Emitter, EmitterSource, EventChannel, HttpEmitter } from '../../client/index.js';
import { waitFor } from '../support/wait-for.js';
import { median } from './statistics.js';

/** Longest wait for the exporter to take what a turn left behind, in ms. */
const SETTLE_MS = 20_000;

type Channel = ReturnType<HttpEmitter['open']>;

/** What became of the events of one candidate: telemetry that is dropped or put off costs less than it should. */
export interface TelemetryFacts {
  readonly emitted: number;
  /** Dropped, or refused by the exporter. */
  readonly lost: number;
  /** Median share of a turn's events that were still on their way at its end: their sending is not in its time. */
  readonly leftShare: number;
}

/** Stands between one lock client and its emitter, and looks at the channel's books. */
export class TelemetryGauge implements Emitter {
  readonly #emitter: HttpEmitter;
  readonly #leftShares: number[] = [];
  #channel: Channel | undefined;
  #emittedBefore = 0;

  constructor(emitter: HttpEmitter) {
    this.#emitter = emitter;
  }

  open(source: EmitterSource): EventChannel {
    this.#channel = this.#emitter.open(source);
    return this.#channel;
  }

  /** Ends a turn: notes what is left, and waits until the exporter has it. */
  async settle(): Promise<void> {
    const { emitted, queued } = this.#stats();
    this.#leftShares.push(queued / Math.max(1, emitted - this.#emittedBefore));
    this.#emittedBefore = emitted;
    await waitFor(() => this.#stats().queued === 0, {
      what: 'the exporter to take the events of a turn',
      timeoutMs: SETTLE_MS,
    });
  }

  get facts(): TelemetryFacts {
    const { emitted, rejected, dropped } = this.#stats();
    const lost = Object.values(dropped).reduce((sum, count) => sum + count, rejected);
    return { emitted, lost, leftShare: Math.round(median(this.#leftShares) * 1000) / 1000 };
  }

  #stats(): ReturnType<Channel['stats']> {
    if (this.#channel === undefined) throw new Error('the gauge was not given to a lock client');
    return this.#channel.stats();
  }
}
