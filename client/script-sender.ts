import { reasonOfReply } from '../contract/redis-reason.js';
import type { AcquireReply, CheckReply, ReleaseReply, RenewReply } from '../lua/replies.js';
import type { AcquireArgs, LockArgs, LockScripts, RenewArgs } from '../lua/scripts.js';
import type { TogetherCall, TogetherReply } from '../lua/together.js';
import type { LockConnection } from './lock-connection.js';
import type { ServerEpoch, ServerEpochs } from './server-epochs.js';

/**
 * Calls in one command: few enough that Redis works on the first while the rest is still being made, and that no
 * other client of Redis waits for long (16 locks take it some 50 µs); many enough that commands cost little.
 */
export const MAX_TOGETHER = 16;

/** Who waits for an answer. */
export interface Sender {
  /** False when nobody does any more: then it must not be sent a second time. */
  readonly isUnanswered: boolean;
}

/** A call that waits for the end of the turn. */
interface Gathered {
  readonly call: TogetherCall;
  readonly sender: Sender;
  readonly settle: (reply: TogetherReply) => void;
}

/**
 * Sends the lock scripts. Acquires and releases that come while another command is under way wait for the end of the
 * turn, and go to Redis as one command: what ioredis, the socket and EVALSHA cost for each command is most of what a
 * lock costs. A lone caller's is sent at once. The order of calls stays as it is.
 *
 * When Redis refuses a joint command as a whole, since one key of it lies in another slot or is forbidden to this
 * user, nothing of it was done: each call that is still waited for is sent alone, and has its own answer. Such a
 * connection gets no more joint commands. A Cluster gets none at all: its keys lie on several servers.
 */
export class ScriptSender {
  readonly #redis: LockConnection;
  readonly #scripts: LockScripts;
  readonly #epochs: ServerEpochs;
  #underWay = 0;
  #gathered: Gathered[] = [];
  #refusedOn: ServerEpoch | undefined;

  constructor(redis: LockConnection, scripts: LockScripts, epochs: ServerEpochs) {
    this.#redis = redis;
    this.#scripts = scripts;
    this.#epochs = epochs;
  }

  acquire(args: AcquireArgs, sender: Sender): Promise<AcquireReply> {
    this.#underWay += 1;
    if (!this.#mayGather) return this.#scripts.acquire(this.#redis, args);
    return this.#gather({ script: 'acquire', args }, sender) as Promise<AcquireReply>;
  }

  release(args: LockArgs, sender: Sender): Promise<ReleaseReply> {
    this.#underWay += 1;
    if (!this.#mayGather) return this.#scripts.release(this.#redis, args);
    return this.#gather({ script: 'release', args }, sender) as Promise<ReleaseReply>;
  }

  renew(args: RenewArgs): Promise<RenewReply> {
    this.#underWay += 1;
    this.#sendGathered();
    return this.#scripts.renew(this.#redis, args);
  }

  check(args: LockArgs): Promise<CheckReply> {
    this.#underWay += 1;
    this.#sendGathered();
    return this.#scripts.check(this.#redis, args);
  }

  /** To be called when the promise of a call has settled. */
  answered(): void {
    this.#underWay -= 1;
  }

  get #mayGather(): boolean {
    if (this.#underWay < 2 || this.#scripts.together === undefined) return false;
    return !this.#redis.isCluster && this.#refusedOn !== this.#epochs.current;
  }

  #gather(call: TogetherCall, sender: Sender): Promise<TogetherReply> {
    return new Promise((resolve, reject) => {
      const settle = (reply: TogetherReply) => (reply instanceof Error ? reject(reply) : resolve(reply));
      if (this.#gathered.length === 0) process.nextTick(this.#sendGathered);
      if (this.#gathered.push({ call, sender, settle }) >= MAX_TOGETHER) this.#sendGathered();
    });
  }

  readonly #sendGathered = (): void => {
    const gathered = this.#gathered;
    if (gathered.length === 0) return;
    this.#gathered = [];
    if (gathered.length === 1) this.#sendEachAlone(gathered);
    else this.#sendTogether(gathered);
  };

  #sendTogether(gathered: readonly Gathered[]): void {
    const calls = gathered.map(({ call }) => call);
    const settleAll = (error: unknown) => {
      for (const { settle } of gathered) settle(asError(error));
    };
    this.#scripts.together?.(this.#redis, calls).then(
      (replies) => {
        for (const [at, { settle }] of gathered.entries()) settle(replies[at] ?? new Error('no answer'));
      },
      (error) => {
        if (isRefusal(error)) this.#refused(gathered, error);
        else settleAll(error);
      },
    );
  }

  /** Nothing was done. A call that nobody waits for any more stays undone: its clean-up was sent already. */
  #refused(gathered: readonly Gathered[], error: Error): void {
    if (isLasting(error)) this.#refusedOn = this.#epochs.current;
    for (const { sender, settle } of gathered) if (!sender.isUnanswered) settle(error);
    this.#sendEachAlone(gathered.filter(({ sender }) => sender.isUnanswered));
  }

  #sendEachAlone(gathered: readonly Gathered[]): void {
    for (const { call, settle } of gathered) {
      const answer: Promise<TogetherReply> =
        call.script === 'acquire'
          ? this.#scripts.acquire(this.#redis, call.args)
          : this.#scripts.release(this.#redis, call.args);
      answer.then(settle, (error) => settle(asError(error)));
    }
  }
}

/** Redis answered, and with an error: the joint script itself raises none, so nothing of it was run. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** It would be refused again. */
function isLasting(error: Error): boolean {
  const reason = reasonOfReply(error.message);
  return reason === 'cross_slot' || reason === 'no_permission';
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
