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
 * Only to a server that surely has all keys: a proxy may send a command to where its first key lives. When a joint
 * command is refused since one key of it is forbidden to this user, or lies in another slot, then nothing of it was
 * done: each call that is still waited for is sent alone, and has its own answer; and so are all until the connection
 * is made anew. Any other error is the answer to each of the calls, as it would have been to each alone.
 */
export class ScriptSender {
  readonly #redis: LockConnection;
  readonly #scripts: LockScripts;
  readonly #epochs: ServerEpochs;
  readonly #joins: boolean;
  /** Calls without an answer, the one being made included. */
  #underWay = 0;
  #gathered: Gathered[] = [];
  #refusedOn: ServerEpoch | undefined;

  /** @param joins false: each call is a command of its own */
  constructor(redis: LockConnection, scripts: LockScripts, epochs: ServerEpochs, joins: boolean) {
    this.#redis = redis;
    this.#scripts = scripts;
    this.#epochs = epochs;
    this.#joins = joins && scripts.together !== undefined;
  }

  acquire(args: AcquireArgs, sender: Sender): Promise<AcquireReply> {
    if (this.#mayGather) return this.#gather({ script: 'acquire', args }, sender) as Promise<AcquireReply>;
    return this.#sendNow(() => this.#scripts.acquire(this.#redis, args));
  }

  release(args: LockArgs, sender: Sender): Promise<ReleaseReply> {
    if (this.#mayGather) return this.#gather({ script: 'release', args }, sender) as Promise<ReleaseReply>;
    return this.#sendNow(() => this.#scripts.release(this.#redis, args));
  }

  renew(args: RenewArgs): Promise<RenewReply> {
    return this.#sendNow(() => this.#scripts.renew(this.#redis, args));
  }

  check(args: LockArgs): Promise<CheckReply> {
    return this.#sendNow(() => this.#scripts.check(this.#redis, args));
  }

  /** To be called when the promise of a call has settled. */
  answered(): void {
    this.#underWay -= 1;
  }

  get #mayGather(): boolean {
    return this.#underWay > 0 && this.#mayJoin;
  }

  get #mayJoin(): boolean {
    const { current } = this.#epochs;
    return this.#joins && current.hasAllKeys && this.#refusedOn !== current;
  }

  /** Nothing overtakes what was gathered before. */
  #sendNow<Reply>(send: () => Promise<Reply>): Promise<Reply> {
    this.#sendGathered();
    this.#underWay += 1;
    return attempt(send);
  }

  #gather(call: TogetherCall, sender: Sender): Promise<TogetherReply> {
    this.#underWay += 1;
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
    if (gathered.length > 1 && this.#mayJoin) this.#sendTogether(gathered);
    else this.#sendEachAlone(gathered);
  };

  #sendTogether(gathered: readonly Gathered[]): void {
    const calls = gathered.map(({ call }) => call);
    attempt(() => this.#together(calls)).then(
      (replies) => {
        for (const [at, { settle }] of gathered.entries()) settle(replies[at] ?? new Error('no answer'));
      },
      (error: unknown) => {
        if (isAboutOneKey(error)) this.#refused(gathered, error);
        else for (const { settle } of gathered) settle(asError(error));
      },
    );
  }

  #together(calls: readonly TogetherCall[]): Promise<readonly TogetherReply[]> {
    const { together } = this.#scripts;
    if (together === undefined) throw new Error('these scripts have no joint form');
    return together(this.#redis, calls);
  }

  /** Nothing was done. A call that nobody waits for any more stays undone: its clean-up was sent already. */
  #refused(gathered: readonly Gathered[], error: Error): void {
    this.#refusedOn = this.#epochs.current;
    for (const { sender, settle } of gathered) if (!sender.isUnanswered) settle(error);
    this.#sendEachAlone(gathered.filter(({ sender }) => sender.isUnanswered));
    // What was gathered for another joint command must not be overtaken by calls that are sent at once from now on.
    this.#sendGathered();
  }

  #sendEachAlone(gathered: readonly Gathered[]): void {
    for (const { call, settle } of gathered) {
      const send = (): Promise<TogetherReply> =>
        call.script === 'acquire'
          ? this.#scripts.acquire(this.#redis, call.args)
          : this.#scripts.release(this.#redis, call.args);
      attempt(send).then(settle, (error) => settle(asError(error)));
    }
  }
}

/** A connection that somebody wrapped may throw; here that would end the process. */
function attempt<Reply>(send: () => Promise<Reply>): Promise<Reply> {
  try {
    return send();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Redis looks at the keys of a script before it runs it, so nothing was done; and the other calls' keys may do. */
function isAboutOneKey(error: unknown): error is Error {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return false;
  return /^(CROSSSLOT|NOPERM|TRYAGAIN)\b/.test(error.message);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
