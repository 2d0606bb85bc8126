import type { Answer } from '../../contract/batch.js';
import type { Clock, Random, Timer } from '../../contract/clock.js';
import { backoffMs, CONFIGURATION_BACKOFF, TRANSIENT_BACKOFF } from './backoff.js';
import type { EncodedBatch } from './batch-encoder.js';
import { judge, type PostReply, type Verdict } from './verdict.js';

/** The wire. */
export interface PostPort {
  /** One attempt, limited in time and in the size of the answer. Never rejects. */
  post(body: Buffer): Promise<PostReply>;
  /** Ends the attempt under way. */
  abort(): void;
}

/** Who is told what became of a batch; exactly one of `done` and `refused` per batch, unless it was abandoned. */
export interface SenderEvents {
  done(batch: EncodedBatch, answer: Answer): void;
  refused(batch: EncodedBatch, text: string): void;
  /** An attempt failed; another follows. Not called for a stale connection, which is replaced at once. */
  failed(text: string): void;
}

/**
 * Brings one batch at a time to the exporter.
 *
 *   idle ──send──▶ posting ──done, refused──▶ idle
 *                   ▲  │
 *                   │  └──retry──▶ pausing ──pause over, or hurry──▶ posting
 *                   └─ at once, when a kept-alive connection was stale
 *
 * `abandon` leads to idle from everywhere. Each attempt posts the same bytes, so that the exporter can tell a
 * resend by its number and counts it once.
 */
export class BatchSender {
  readonly #port: PostPort;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #events: SenderEvents;
  #batch: EncodedBatch | undefined;
  #pause: Timer | undefined;
  #failures = 0;

  constructor(port: PostPort, clock: Clock, random: Random, events: SenderEvents) {
    this.#port = port;
    this.#clock = clock;
    this.#random = random;
    this.#events = events;
  }

  /** The batch under way. */
  get batch(): EncodedBatch | undefined {
    return this.#batch;
  }

  /** Begins to send. Not to be called while a batch is under way. */
  send(batch: EncodedBatch): void {
    this.#batch = batch;
    this.#failures = 0;
    this.#post(batch);
  }

  /** Ends the pause between two attempts, if there is one. */
  hurry(): void {
    if (this.#pause && this.#batch) this.#post(this.#batch);
  }

  /** Gives the batch up; whether the exporter has it is not known. @returns the batch that was under way */
  abandon(): EncodedBatch | undefined {
    const batch = this.#batch;
    this.#batch = undefined;
    this.#pause?.cancel();
    this.#pause = undefined;
    if (batch) this.#port.abort();
    return batch;
  }

  #post(batch: EncodedBatch): void {
    this.#pause?.cancel();
    this.#pause = undefined;
    void this.#port.post(batch.body).then((reply) => {
      if (this.#batch === batch) this.#settle(batch, judge(reply));
    });
  }

  #settle(batch: EncodedBatch, verdict: Verdict): void {
    switch (verdict.kind) {
      case 'done':
        this.#batch = undefined;
        this.#events.done(batch, verdict.answer);
        break;
      case 'refused':
        this.#batch = undefined;
        this.#events.refused(batch, verdict.text);
        break;
      case 'retry':
        this.#retry(batch, verdict);
        break;
      default:
        verdict satisfies never;
    }
  }

  #retry(batch: EncodedBatch, verdict: Extract<Verdict, { kind: 'retry' }>): void {
    if (verdict.cause === 'stale_socket') {
      // The next attempt opens a new connection, which cannot be stale: this is no way to spin.
      this.#post(batch);
      return;
    }
    this.#failures += 1;
    const curve = verdict.cause === 'configuration' ? CONFIGURATION_BACKOFF : TRANSIENT_BACKOFF;
    const pauseMs = backoffMs(this.#failures, curve, this.#random, verdict.retryAfterMs);
    this.#pause = this.#clock.setTimer(() => this.#post(batch), pauseMs);
    this.#events.failed(verdict.text);
  }
}
