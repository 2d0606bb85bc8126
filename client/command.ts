import type { Clock } from '../contract/clock.js';
import { type DeadlineItem, type DeadlineQueue, NOT_QUEUED } from './deadline-queue.js';
import { isEnded, type LockConnection } from './lock-connection.js';
import { commandTimedOut, explainFailure, type RedisFailure } from './redis-errors.js';
import type { ServerEpoch, ServerEpochs } from './server-epochs.js';

/** How one command ended, with monotonic times. */
export type Answer<Reply> =
  | {
      readonly ok: true;
      readonly reply: Reply;
      readonly sentMs: number;
      readonly receivedMs: number;
      readonly epoch: ServerEpoch;
    }
  | {
      readonly ok: false;
      readonly failure: RedisFailure;
      readonly sentMs: number;
      readonly receivedMs: number;
    };

/** Who sent a command. */
export interface CommandListener<Reply> {
  /** Called once: with the answer, or at the time limit. Not called after `abandon()`. */
  onAnswer(answer: Answer<Reply>): void;
  /** Called when an answer comes after the time limit or after `abandon()`: the command may have been carried out. */
  onLate?(answer: Answer<Reply>): void;
}

/** What commands need of their client. */
export interface CommandRoom {
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly epochs: ServerEpochs;
  readonly redis: LockConnection;
}

/**
 * One command under way, with a time limit of its own: ioredis may have none, and may keep a command in a queue for
 * longer than anybody cares. The limit does not take the command back; what it does late is told to `onLate`.
 */
export class Command<Reply> implements DeadlineItem {
  dueMs = 0;
  queueIndex = NOT_QUEUED;
  /** Monotonic time right before the send. */
  readonly sentMs: number;
  readonly #room: CommandRoom;
  readonly #listener: CommandListener<Reply>;
  readonly #limitMs: number;
  #isOpen = true;

  /** Sends at once. The listener is never called before the constructor returns. */
  constructor(
    room: CommandRoom,
    listener: CommandListener<Reply>,
    limitMs: number,
    send: () => Promise<Reply>,
  ) {
    this.#room = room;
    this.#listener = listener;
    this.#limitMs = limitMs;
    this.sentMs = room.clock.monoMs();
    const wasEnded = isEnded(room.redis);
    send().then(
      (reply) => this.#onReply(reply),
      (error) => this.#onError(error, wasEnded),
    );
    room.deadlines.set(this, this.sentMs + limitMs);
  }

  /** Still waited for. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Nobody waits any more. An answer still goes to `onLate`. */
  abandon(): void {
    this.#isOpen = false;
    this.#room.deadlines.cancel(this);
  }

  onDue(nowMs: number): void {
    this.#isOpen = false;
    this.#listener.onAnswer({
      ok: false,
      failure: commandTimedOut(this.#limitMs),
      sentMs: this.sentMs,
      receivedMs: nowMs,
    });
  }

  #onReply(reply: Reply): void {
    const { clock, epochs } = this.#room;
    this.#settle({ ok: true, reply, sentMs: this.sentMs, receivedMs: clock.monoMs(), epoch: epochs.current });
  }

  #onError(error: unknown, wasEnded: boolean): void {
    const failure = explainFailure(error);
    this.#settle({
      ok: false,
      failure: wasEnded ? { ...failure, notDone: true } : failure,
      sentMs: this.sentMs,
      receivedMs: this.#room.clock.monoMs(),
    });
  }

  #settle(answer: Answer<Reply>): void {
    if (!this.#isOpen) {
      this.#listener.onLate?.(answer);
      return;
    }
    this.abandon();
    this.#listener.onAnswer(answer);
  }
}

/** Sends one command and resolves with its answer. Never rejects. */
export function ask<Reply>(
  room: CommandRoom,
  limitMs: number,
  send: () => Promise<Reply>,
): Promise<Answer<Reply>> {
  return new Promise((resolve) => {
    new Command(room, { onAnswer: resolve }, limitMs, send);
  });
}
