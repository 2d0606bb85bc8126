import type { ReleaseReply } from '../lua/replies.js';
import type { AcquireArgs } from '../lua/scripts.js';
import { type Answer, Command, type CommandListener, type CommandRoom } from './command.js';
import { type DeadlineItem, NOT_QUEUED } from './deadline-queue.js';
import { isEnded, isReady } from './lock-connection.js';
import { isTransient } from './redis-errors.js';

/** Clean-ups at once; beyond it one more is dropped and counted, and the orphan, if there is one, ends with its lease. */
export const MAX_CLEAN_UPS = 1000;
/** First and longest pause between two tries, in ms. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/** What clean-ups need of their client. */
export interface CleanUpRoom extends CommandRoom {
  readonly commandTimeoutMs: number;
}

/**
 * Takes back what may have been granted without anybody holding it: after a lost or late answer, an abort, or a failed
 * release. It compares and deletes with the own token, so it can never touch another's lock.
 *
 * The first try is sent at once: on one connection it stays behind the command it is about, in ioredis's queues as
 * on the wire. Further tries wait for the connection, until Redis has answered or the lease is certainly over.
 */
export class CleanUp {
  readonly #room: CleanUpRoom;
  readonly #tasks = new Set<CleanUpTask>();
  #dropped = 0;
  #isStopped = false;

  constructor(room: CleanUpRoom) {
    this.#room = room;
  }

  /** Clean-ups under way. */
  get pending(): number {
    return this.#tasks.size;
  }

  /** Clean-ups not begun, as there were too many or the client was closed. */
  get dropped(): number {
    return this.#dropped;
  }

  start(args: AcquireArgs): void {
    if (this.#isStopped || this.#tasks.size >= MAX_CLEAN_UPS) {
      this.#dropped += 1;
      return;
    }
    const task = new CleanUpTask(this.#room, args, () => this.#tasks.delete(task));
    this.#tasks.add(task);
    task.start();
  }

  /** For the end: gives up what is under way, and begins nothing more. */
  stop(): void {
    this.#isStopped = true;
    for (const task of this.#tasks) task.stop();
  }
}

class CleanUpTask implements DeadlineItem, CommandListener<ReleaseReply> {
  dueMs = 0;
  queueIndex = NOT_QUEUED;
  readonly #room: CleanUpRoom;
  readonly #args: AcquireArgs;
  readonly #onOver: () => void;
  #command: Command<ReleaseReply> | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #endMs = 0;

  constructor(room: CleanUpRoom, args: AcquireArgs, onOver: () => void) {
    this.#room = room;
    this.#args = args;
    this.#onOver = onOver;
  }

  start(): void {
    this.#extend();
    this.#send();
  }

  stop(): void {
    this.#command?.abandon();
    this.#room.deadlines.cancel(this);
    this.#onOver();
  }

  onAnswer(answer: Answer<ReleaseReply>): void {
    if (answer.ok || !isTransient(answer.failure.reason) || isEnded(this.#room.redis)) this.stop();
    else this.#pause(answer.receivedMs);
  }

  /** An answer is an answer, also when a further try is planned already. */
  onLate(answer: Answer<ReleaseReply>): void {
    if (answer.ok) this.stop();
  }

  onDue(nowMs: number): void {
    if (isEnded(this.#room.redis)) {
      this.stop();
      return;
    }
    if (isReady(this.#room.redis)) {
      if (nowMs < this.#endMs) this.#send();
      else this.stop();
      return;
    }
    // Down: what is queued may be applied when it comes back, and would live a whole lease from then on.
    this.#extend();
    this.#pause(nowMs);
  }

  #send(): void {
    this.#command = new Command(this.#room, this, this.#room.commandTimeoutMs, (scripts, command) =>
      scripts.release(this.#args, command),
    );
  }

  #pause(nowMs: number): void {
    this.#room.deadlines.set(this, nowMs + this.#pauseMs);
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }

  #extend(): void {
    const { clock, commandTimeoutMs } = this.#room;
    this.#endMs = clock.monoMs() + this.#args.leaseMs + commandTimeoutMs;
  }
}
