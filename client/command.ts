import type { Clock } from '../contract/clock.js';
import { type DeadlineItem, type DeadlineQueue, NOT_QUEUED } from './deadline-queue.js';
import type { LockConnection } from './lock-connection.js';
import type { GateWaiter, ReadyGate } from './ready-gate.js';
import {
  commandTimedOut,
  connectionEnded,
  connectionNotReady,
  explainFailure,
  type RedisFailure,
} from './redis-errors.js';
import type { ScriptSender, Sender } from './script-sender.js';
import type { ServerEpoch, ServerEpochs } from './server-epochs.js';

/** How one command ended. Times are monotonic; `sentMs` is that of the call for a command that was never sent. */
export type Answer<Reply> =
  | {
      readonly ok: true;
      readonly reply: Reply;
      readonly sentMs: number;
      readonly receivedMs: number;
      readonly epoch: ServerEpoch;
      /** The connection broke meanwhile: ioredis may have sent it twice, and this may be the answer to the second. */
      readonly mayBeResent: boolean;
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
  /** Called right before the command is handed to ioredis: at once, or when the connection is ready. */
  onSend?(sentMs: number): void;
}

/** What commands need of their client. */
export interface CommandRoom {
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly epochs: ServerEpochs;
  readonly gate: ReadyGate;
  readonly redis: LockConnection;
  readonly sender: ScriptSender;
}

/** Sends the script of a command. */
export type SendScript<Reply> = (scripts: ScriptSender, command: Sender) => Promise<Reply>;

/** `waiting` (for the connection) → `sent` → `over`; `over` at the answer, at the limit, or when abandoned. */
type CommandState = 'waiting' | 'sent' | 'over';

/**
 * One command under way, with a time limit of its own: ioredis may have none, and may keep a command in a queue for
 * longer than anybody cares. The limit does not take a sent command back; what it does late is told to `onLate`.
 */
export class Command<Reply> implements DeadlineItem, GateWaiter, Sender {
  dueMs = 0;
  queueIndex = NOT_QUEUED;
  readonly #room: CommandRoom;
  readonly #listener: CommandListener<Reply>;
  readonly #limitMs: number;
  readonly #send: SendScript<Reply>;
  #state: CommandState = 'waiting';
  #sentMs: number;
  #sentEpoch: ServerEpoch | undefined;

  /** Sends at once, or when the connection is ready. `onAnswer` is never called before the constructor returns. */
  constructor(room: CommandRoom, listener: CommandListener<Reply>, limitMs: number, send: SendScript<Reply>) {
    this.#room = room;
    this.#listener = listener;
    this.#limitMs = limitMs;
    this.#send = send;
    this.#sentMs = room.clock.monoMs();
    const isOpen = room.gate.isOpen;
    // Sent first: Redis is at work while the books are kept.
    if (isOpen) this.#sendNow(this.#sentMs);
    room.deadlines.set(this, this.#sentMs + limitMs);
    if (!isOpen) room.gate.wait(this);
  }

  /** True while an answer could still tell that Redis carried it out, and nobody has heard of it yet. */
  get isUnanswered(): boolean {
    return this.#state === 'sent';
  }

  /** Nobody waits any more: what was not sent never will be. An answer still goes to `onLate`. */
  abandon(): void {
    if (this.#state === 'waiting') this.#room.gate.leave(this);
    this.#state = 'over';
    this.#room.deadlines.cancel(this);
  }

  onReady(): void {
    if (this.#state === 'waiting') this.#sendNow(this.#room.clock.monoMs());
  }

  onEnd(): void {
    if (this.#state === 'waiting') this.#settle(this.#failed(connectionEnded(), this.#room.clock.monoMs()));
  }

  /** The time limit. */
  onDue(nowMs: number): void {
    const failure =
      this.#state === 'waiting'
        ? connectionNotReady(this.#limitMs, this.#room.gate.lastError)
        : commandTimedOut(this.#limitMs);
    this.#settle(this.#failed(failure, nowMs));
  }

  #sendNow(nowMs: number): void {
    this.#state = 'sent';
    this.#sentMs = nowMs;
    this.#sentEpoch = this.#room.epochs.current;
    this.#listener.onSend?.(nowMs);
    const wasEnded = this.#room.redis.status === 'end';
    this.#send(this.#room.sender, this).then(
      (reply) => this.#onReply(reply),
      (error) => this.#onError(error, wasEnded),
    );
  }

  #onReply(reply: Reply): void {
    this.#room.sender.answered();
    const { clock, epochs } = this.#room;
    const epoch = epochs.current;
    this.#settle({
      ok: true,
      reply,
      sentMs: this.#sentMs,
      receivedMs: clock.monoMs(),
      epoch,
      mayBeResent: epoch !== this.#sentEpoch,
    });
  }

  #onError(error: unknown, wasEnded: boolean): void {
    this.#room.sender.answered();
    const failure = explainFailure(error);
    this.#settle(this.#failed(wasEnded ? { ...failure, notDone: true } : failure, this.#room.clock.monoMs()));
  }

  #failed(failure: RedisFailure, receivedMs: number): Answer<Reply> {
    return { ok: false, failure, sentMs: this.#sentMs, receivedMs };
  }

  #settle(answer: Answer<Reply>): void {
    if (this.#state === 'over') {
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
  send: SendScript<Reply>,
): Promise<Answer<Reply>> {
  return new Promise((resolve) => {
    new Command(room, { onAnswer: resolve }, limitMs, send);
  });
}
