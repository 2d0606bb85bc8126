import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import type { LockScripts } from '../../../../lua/scripts.js';
import type { TogetherReply } from '../../../../lua/together.js';
import type { FakeClock } from '../../../support/clocks.js';
import type { ModelRedis, ScriptCall, ScriptReply } from './model-redis.js';
import type { ProcessClock } from './process-clock.js';

/** What the network does with one command and its answer. */
export interface Fate {
  readonly requestMs: number;
  readonly replyMs: number;
  /** `lose_…`: from here on the connection is deaf in this direction, until it breaks. `refuse`: an error reply. */
  readonly kind: 'carry' | 'lose_request' | 'lose_reply' | 'refuse';
}

/** As in `createLockConnection`. */
const DEAD_SOCKET_TIMEOUTS = 3;
const RECONNECT_MS = 20;

export const CALM: Fate = { requestMs: 1, replyMs: 1, kind: 'carry' };

/** One command on its way. */
export interface Request {
  readonly call: ScriptCall;
  readonly sentAtMs: number;
  resolve(reply: ScriptReply): void;
  reject(error: Error): void;
  sends: number;
  /** The link it was first written to. */
  link: Link | undefined;
}

/** How one command was carried out: who stands between network and server notes the truth. */
export type Carry = (server: ModelRedis, request: Request, isStray: boolean) => ScriptReply;

/** One TCP connection: what is sent on it arrives in order, and so do the answers. */
interface Link {
  readonly server: ModelRedis;
  isAlive: boolean;
  /** What was on its way when the link broke still reaches the server. */
  strays: boolean;
  takesRequests: boolean;
  takesReplies: boolean;
  lastArrivalMs: number;
  lastReplyMs: number;
}

interface NetworkOptions {
  readonly world: FakeClock;
  readonly clock: ProcessClock;
  readonly fates: readonly Fate[];
  /** INFO is answered, so that the client learns the server's run id. */
  readonly tellsRunId: boolean;
  readonly commandTimeoutMs: number;
  /** ioredis's autoResendUnfulfilledCommands. */
  readonly resends: boolean;
  readonly server: () => ModelRedis;
  readonly carry: Carry;
  /** A client hands over a command; `open` are its earlier ones on this link that have no answer. */
  readonly sending: (request: Request, open: readonly Request[]) => void;
  /** An answer comes to its client. */
  readonly received: (reply: ScriptReply) => void;
}

/** As much of an ioredis connection as the client looks at, on a network that does what a history says. */
export class ModelConnection extends EventEmitter {
  readonly isCluster = false;
  readonly options = {
    keyPrefix: '',
    commandTimeout: 1000,
    enableOfflineQueue: false,
    reconnectOnError: () => true,
    retryStrategy: () => 1,
  };
  readonly #network: NetworkOptions;
  readonly #pending = new Set<Request>();
  /** Commands and answers that will still get where they go, by token. */
  readonly #travelling: string[] = [];
  status: 'ready' | 'reconnecting' = 'ready';
  /** When it last became ready: what is sent then has waited, and its time limit began earlier. */
  readyAtMs = Number.NEGATIVE_INFINITY;
  #link: Link;
  #nextFate = 0;
  #isCalm = false;

  constructor(network: NetworkOptions) {
    super();
    this.#network = network;
    this.#link = makeLink(network.server());
  }

  /** Something about this token is still on its way, to the server or back. */
  isTravelling(token: string): boolean {
    return this.#travelling.includes(token);
  }

  /** Breaks are over: from now on every command is carried and answered at once. */
  calm(): void {
    this.#isCalm = true;
  }

  connect(): Promise<void> {
    return Promise.resolve();
  }

  info(): Promise<string> {
    const link = this.#link;
    return new Promise((resolve, reject) => {
      if (!this.#network.tellsRunId) reject(new Error('NOPERM'));
      else
        this.#later(1, () => {
          if (link.isAlive) resolve(`# Server\r\nrun_id:${link.server.runId}\r\n`);
          else reject(new Error('Connection is closed.'));
        });
    });
  }

  send(call: ScriptCall): Promise<ScriptReply> {
    return new Promise((resolve, reject) => {
      if (this.status !== 'ready') {
        reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
        return;
      }
      const request: Request = { call, resolve, reject, sends: 0, sentAtMs: this.#now, link: undefined };
      const open = [...this.#pending].filter(({ link }) => link === this.#link);
      this.#network.sending(request, open);
      this.#pending.add(request);
      this.#write(request);
    });
  }

  /** Breaks the connection for `downMs`; the next one leads to the server that is current then. */
  cut(downMs: number, strays: boolean): void {
    const link = this.#link;
    if (!link.isAlive) return;
    link.isAlive = false;
    link.strays = strays;
    this.#network.clock.deliver(() => this.#onClose());
    this.#later(downMs, () => this.#onReady());
  }

  /** A silent connection is given up after a while, as by ioredis's socketTimeout. */
  #deafen(link: Link, lane: 'takesRequests' | 'takesReplies'): void {
    link[lane] = false;
    this.#network.world.setTimer(() => {
      if (this.#link === link) this.cut(RECONNECT_MS, false);
    }, this.#network.commandTimeoutMs * DEAD_SOCKET_TIMEOUTS);
  }

  #onClose(): void {
    this.status = 'reconnecting';
    this.emit('close');
    for (const request of this.#pending) {
      if (!this.#network.resends) this.#reject(request, new Error('Connection is closed.'));
      else if (request.sends > 1)
        this.#reject(request, new Error('Reached the max retries per request limit'));
    }
  }

  /** As ioredis: first what is to be sent again, then whoever waits for the event. */
  #onReady(): void {
    this.#link = makeLink(this.#network.server());
    this.status = 'ready';
    this.readyAtMs = this.#now;
    for (const request of this.#pending) this.#write(request);
    this.emit('ready');
  }

  #write(request: Request): void {
    request.sends += 1;
    const link = this.#link;
    request.link ??= link;
    const fate = this.#fate();
    if (fate.kind === 'lose_request') this.#deafen(link, 'takesRequests');
    if (!link.isAlive || !link.takesRequests) return;
    link.lastArrivalMs = Math.max(link.lastArrivalMs, this.#now + fate.requestMs);
    this.#travelling.push(request.call.args.token);
    this.#network.world.setTimer(() => this.#arrive(request, link, fate), link.lastArrivalMs - this.#now);
  }

  #arrive(request: Request, link: Link, fate: Fate): void {
    this.#travelling.splice(this.#travelling.indexOf(request.call.args.token), 1);
    if (!link.isAlive && !link.strays) return;
    const isRefused = fate.kind === 'refuse';
    const reply = isRefused ? undefined : this.#network.carry(link.server, request, !link.isAlive);
    if (fate.kind === 'lose_reply') this.#deafen(link, 'takesReplies');
    if (!link.isAlive || !link.takesReplies) return;
    link.lastReplyMs = Math.max(link.lastReplyMs, this.#now + fate.replyMs);
    this.#travelling.push(request.call.args.token);
    this.#network.world.setTimer(() => {
      this.#travelling.splice(this.#travelling.indexOf(request.call.args.token), 1);
      if (link.isAlive) this.#network.clock.deliver(() => this.#answer(request, reply));
    }, link.lastReplyMs - this.#now);
  }

  #answer(request: Request, reply: ScriptReply | undefined): void {
    if (!this.#pending.delete(request)) return;
    if (reply !== undefined) {
      this.#network.received(reply);
      request.resolve(reply);
    } else request.reject(replyError('LOADING Redis is loading the dataset in memory'));
  }

  #reject(request: Request, error: Error): void {
    if (this.#pending.delete(request)) request.reject(error);
  }

  #later(ms: number, act: () => void): void {
    this.#network.world.setTimer(() => this.#network.clock.deliver(act), ms);
  }

  get #now(): number {
    return this.#network.world.monoMs();
  }

  #fate(): Fate {
    const { fates } = this.#network;
    this.#nextFate += 1;
    return this.#isCalm ? CALM : (fates[(this.#nextFate - 1) % fates.length] ?? CALM);
  }
}

function makeLink(server: ModelRedis): Link {
  const lanes = { takesRequests: true, takesReplies: true, lastArrivalMs: 0, lastReplyMs: 0 };
  return { server, isAlive: true, strays: false, ...lanes };
}

function replyError(message: string): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}

/** The lock scripts of a client whose `redis` is a {@link ModelConnection}. */
export function networkScripts(): LockScripts {
  const send = <Reply>(connection: unknown, call: ScriptCall) =>
    (connection as ModelConnection).send(call) as Promise<Reply>;
  return {
    acquire: (connection, args) => send(connection, { name: 'acquire', args }),
    renew: (connection, args) => send(connection, { name: 'renew', args }),
    release: (connection, args) => send(connection, { name: 'release', args }),
    check: (connection, args) => send(connection, { name: 'check', args }),
    sample: () => Promise.reject(new Error('not used')),
  };
}

/**
 * Several calls in one command, as a network may treat them worst: each goes its own way, so that their answers come
 * together and late. Made of the other scripts, bent ones included.
 */
export function withTogether(scripts: LockScripts): LockScripts {
  return {
    ...scripts,
    together: (connection, calls) =>
      Promise.all(
        calls.map((call): Promise<TogetherReply> => {
          const reply =
            call.script === 'acquire'
              ? scripts.acquire(connection, call.args)
              : scripts.release(connection, call.args);
          return reply.catch((error: Error) => error);
        }),
      ),
  };
}

/** As the client's options name it. */
export function asRedis(connection: ModelConnection): Redis {
  return connection as unknown as Redis;
}
