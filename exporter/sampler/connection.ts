import type { ConnectionOptions } from 'node:tls';
import { Redis, type RedisOptions } from 'ioredis';
import type { Clock, Random } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import { redisReasonOf } from './redis-reason.js';

/** Host name or IP address, and port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** One server, by its own address or as the Sentinels name it at each connect. */
export type ServerAddress =
  | ({ readonly kind: 'tcp' } & HostPort)
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'sentinel';
      readonly hosts: readonly HostPort[];
      /** Name under which the Sentinels watch the master. */
      readonly master: string;
      readonly role: 'master' | 'replica';
      /** Called at each connect, like `readPassword`. Undefined: the Sentinels want none. Must not throw. */
      readonly readSentinelPassword: () => string | undefined;
    };

/** Where and as whom to connect. */
export interface ConnectionSettings {
  readonly address: ServerAddress;
  readonly db: number;
  readonly user: string | undefined;
  /** Called at each connect, so that a changed password needs no restart. Undefined: none. Must not throw. */
  readonly readPassword: () => string | undefined;
  /** TLS settings, for Sentinels too; undefined for a plain connection. */
  readonly tls: ConnectionOptions | undefined;
  /** Ask a replica of a cluster to answer for its master's keys. Default false. */
  readonly readOnly?: boolean;
  /** No command is waited for longer. Default 2000. */
  readonly commandTimeoutMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Hears of each error of the connection itself: refused, lost, not let in. */
  readonly onError?: (error: Error) => void;
}

/** One command of a batch. */
export type BatchCommand = readonly [name: string, ...args: (string | Buffer | number)[]];

/** A connection of the sampler: commands fail at once while it is down, and it comes back by itself, for ever. */
export interface SampleRedis {
  /**
   * Sends the commands in one write, so that no other client's command of this connection comes between, and
   * resolves with one reply or Error each, strings as Buffers. Never rejects.
   */
  batch(commands: readonly BatchCommand[]): Promise<unknown[]>;
  /** Sends one command, at half the effort of a batch of one, and resolves with its reply or Error. Never rejects. */
  call(command: BatchCommand): Promise<unknown>;
  /** Why the connection does not work, as far as it is known better than by a failed command. */
  fault(): RedisReason | undefined;
  /** Makes the reason of a failed command more exact: why the connection was lost, as far as its last error told. */
  explain(reason: RedisReason): RedisReason;
  /** Resolves when the connection works, or after `timeoutMs`. */
  untilReady(timeoutMs: number): Promise<void>;
  /** Calls back each time the connection works again. */
  onReady(callback: () => void): void;
  /** How often it was made. While this stays, the answers come from one run of one server. */
  connections(): number;
  /** Drops the connection, if there is one, and makes a new one: after a command timed out, its late replies help nobody. */
  reconnect(): void;
  /** Ends it for good. May be repeated. */
  close(): void;
}

const COMMAND_TIMEOUT_MS = 2000;
const FIRST_RETRY_MS = 50;
/** An exporter looks every few seconds; waiting longer only delays the recovery. */
const LAST_RETRY_MS = 2000;
const CLOSE_TIMEOUT_MS = 500;

/** Starts to connect. Nothing is thrown when Redis is away: it is waited for. */
export function connectSampler(settings: ConnectionSettings): SampleRedis {
  const { address, db, commandTimeoutMs = COMMAND_TIMEOUT_MS, random } = settings;
  const retryStrategy = (attempt: number) => {
    Object.assign(redis.options, loginOf(settings));
    return retryDelayMs(attempt, random);
  };
  const redis: Redis = new Redis({
    ...addressOptions(address, settings.tls, commandTimeoutMs, retryStrategy),
    ...(settings.tls === undefined ? {} : { tls: settings.tls }),
    ...loginOf(settings),
    db,
    readOnly: settings.readOnly ?? false,
    // Protocol 2 needs no HELLO, so that old servers and narrow ACLs serve too.
    protocol: 2,
    connectTimeout: commandTimeoutMs,
    commandTimeout: commandTimeoutMs,
    disconnectTimeout: CLOSE_TIMEOUT_MS,
    // A look that comes late tells of the past: nothing is queued and nothing sent again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // The check asks for INFO and hides "loading" as a silent wait; the commands themselves say it.
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy,
  });
  redis.on('error', (error: Error) => settings.onError?.(error));
  return new IoredisConnection(redis, settings.clock);
}

function addressOptions(
  address: ServerAddress,
  tls: ConnectionOptions | undefined,
  timeoutMs: number,
  retryStrategy: (attempt: number) => number,
): Omit<RedisOptions, 'replyMapping'> {
  switch (address.kind) {
    case 'tcp':
      return { host: address.host, port: address.port };
    case 'unix':
      return { path: address.path };
    case 'sentinel': {
      return {
        sentinels: [...address.hosts],
        name: address.master,
        role: address.role === 'replica' ? 'slave' : 'master',
        // Not ioredis's failoverDetector: its own connections leave a rejection unhandled when they are dropped. The
        // Sentinels end all connections of a master that they demote. One that they cannot reach is sampled until
        // its connection breaks.
        failoverDetector: false,
        sentinelRetryStrategy: retryStrategy,
        sentinelCommandTimeout: timeoutMs,
        ...(tls === undefined ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
      };
    }
    default:
      return address satisfies never;
  }
}

/** What to log in with now. */
interface Login {
  username?: string;
  password?: string;
  sentinelPassword?: string;
}

/** A user without a password is one that needs none (`nopass`); left out, the login would be the default user's. */
function loginOf({ user, readPassword, address }: ConnectionSettings): Login {
  const password = readPassword();
  const asUser = user === undefined ? {} : { username: user, password: password ?? '' };
  const login = user === undefined && password !== undefined ? { password } : asUser;
  const sentinelPassword = address.kind === 'sentinel' ? address.readSentinelPassword() : undefined;
  return sentinelPassword === undefined ? login : { ...login, sentinelPassword };
}

function retryDelayMs(attempt: number, random: Random): number {
  const capMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 10));
  return Math.ceil(capMs * (0.5 + random() / 2));
}

/** Codes of a connection that the other side ended: they say that, and not why. */
const HANG_UPS: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

class IoredisConnection implements SampleRedis {
  readonly #redis: Redis;
  readonly #clock: Clock;
  #connections = 0;
  /** Why the attempts to connect fail; undefined once one did not. */
  #fault: RedisReason | undefined;
  /** Why a connection was last lost, or never came about; undefined since a command was answered. */
  #lastFault: RedisReason | undefined;
  /** The connection is being given up; ioredis calls it ready until it is closed. */
  #leaving = false;
  /** Why this connection is not on its database. ioredis goes on with database 0 then. */
  #selectFault: RedisReason | undefined;

  constructor(redis: Redis, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
    redis.on('error', (error) => {
      if (isOfSelect(error)) this.#selectFault = redisReasonOf(error);
      else this.#noteFault(error);
    });
    redis.on('close', () => {
      this.#leaving = false;
    });
    redis.on('connect', () => {
      this.#leaving = false;
      this.#selectFault = undefined;
    });
    redis.on('ready', () => {
      this.#fault = undefined;
      this.#connections += 1;
    });
  }

  async batch(commands: readonly BatchCommand[]): Promise<unknown[]> {
    const pipeline = this.#redis.pipeline();
    for (const [name, ...args] of commands) pipeline.callBuffer(name, ...args);
    const replies = await pipeline.exec().catch((error: unknown) => commands.map(() => [error] as const));
    const answers = (replies ?? []).map(([error, reply]) => error ?? reply);
    this.#learn(answers);
    return answers;
  }

  async call([name, ...args]: BatchCommand): Promise<unknown> {
    const answer: unknown = await this.#redis.callBuffer(name, ...args).catch((error: unknown) => error);
    this.#learn([answer]);
    return answer;
  }

  fault(): RedisReason | undefined {
    return this.#selectFault ?? this.#fault;
  }

  explain(reason: RedisReason): RedisReason {
    return reason === 'connection' ? (this.fault() ?? this.#lastFault ?? reason) : reason;
  }

  untilReady(timeoutMs: number): Promise<void> {
    if (this.#redis.status === 'ready' && !this.#leaving) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        timer.cancel();
        this.#redis.off('ready', done);
        this.#redis.off('end', done);
        resolve();
      };
      const timer = this.#clock.setTimer(done, timeoutMs);
      this.#redis.once('ready', done);
      this.#redis.once('end', done);
    });
  }

  onReady(callback: () => void): void {
    this.#redis.on('ready', callback);
  }

  connections(): number {
    return this.#connections;
  }

  /** One in the making is left alone: ioredis would end it for good while it asks the Sentinels. */
  reconnect(): void {
    if (this.#redis.status !== 'ready' && this.#redis.status !== 'connect') return;
    this.#leaving = true;
    this.#redis.disconnect(true);
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** That somebody hung up tells less than what was said before. */
  #noteFault(error: unknown): void {
    const reason = redisReasonOf(error);
    const isHangUp = error instanceof Error && 'code' in error && HANG_UPS.has(error.code);
    this.#lastFault = isHangUp ? (this.#lastFault ?? reason) : reason;
    this.#fault = isHangUp ? this.#lastFault : reason;
  }

  /** A server with too many clients says so in the place of the first answer, and hangs up. */
  #learn(answers: readonly unknown[]): void {
    if (answers.some((answer) => !(answer instanceof Error))) this.#lastFault = undefined;
    else if (answers.some((answer) => redisReasonOf(answer) === 'max_clients'))
      this.#lastFault = 'max_clients';
  }
}

function isOfSelect(error: unknown): boolean {
  const command = error instanceof Error && 'command' in error ? error.command : undefined;
  return typeof command === 'object' && command !== null && 'name' in command && command.name === 'select';
}
