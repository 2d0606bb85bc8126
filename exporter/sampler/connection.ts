import type { ConnectionOptions } from 'node:tls';
import { Redis } from 'ioredis';
import type { Clock, Random } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import { redisReasonOf } from './redis-reason.js';

/** Where and as whom to connect. */
export interface ConnectionSettings {
  readonly address:
    | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
    | { readonly kind: 'unix'; readonly path: string };
  readonly db: number;
  readonly user: string | undefined;
  /** Called at each connect, so that a changed password needs no restart. Undefined: none. Must not throw. */
  readonly readPassword: () => string | undefined;
  /** TLS settings; undefined for a plain connection. */
  readonly tls: ConnectionOptions | undefined;
  /** No command is waited for longer. Default 2000. */
  readonly commandTimeoutMs?: number;
  readonly clock: Clock;
  readonly random: Random;
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
  /** Why the connection does not work, as far as it is known better than by a failed command. */
  fault(): RedisReason | undefined;
  /** Resolves when the connection works, or after `timeoutMs`. */
  untilReady(timeoutMs: number): Promise<void>;
  /** Calls back each time the connection works again. */
  onReady(callback: () => void): void;
  /** Drops the connection and makes a new one: after a command timed out, its late replies help nobody. */
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
  const { address, db, user, tls, commandTimeoutMs = COMMAND_TIMEOUT_MS, random } = settings;
  const redis: Redis = new Redis({
    ...(address.kind === 'tcp' ? { host: address.host, port: address.port } : { path: address.path }),
    ...(tls === undefined ? {} : { tls }),
    ...loginOf(user, settings.readPassword()),
    db,
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
    retryStrategy: (attempt) => {
      Object.assign(redis.options, loginOf(user, settings.readPassword()));
      return retryDelayMs(attempt, random);
    },
  });
  return new IoredisConnection(redis, settings.clock);
}

function loginOf(
  user: string | undefined,
  password: string | undefined,
): { username?: string; password?: string } {
  if (password === undefined) return {};
  return user === undefined ? { password } : { username: user, password };
}

function retryDelayMs(attempt: number, random: Random): number {
  const capMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt, 10));
  return Math.ceil(capMs * (0.5 + random() / 2));
}

class IoredisConnection implements SampleRedis {
  readonly #redis: Redis;
  readonly #clock: Clock;
  /** Why the attempts to connect fail; undefined once one did not. */
  #fault: RedisReason | undefined;
  /** Why this connection is not on its database. ioredis goes on with database 0 then. */
  #selectFault: RedisReason | undefined;

  constructor(redis: Redis, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
    redis.on('error', (error) => {
      if (isOfSelect(error)) this.#selectFault = redisReasonOf(error);
      else this.#fault = redisReasonOf(error);
    });
    redis.on('connect', () => {
      this.#selectFault = undefined;
    });
    redis.on('ready', () => {
      this.#fault = undefined;
    });
  }

  async batch(commands: readonly BatchCommand[]): Promise<unknown[]> {
    const pipeline = this.#redis.pipeline();
    for (const [name, ...args] of commands) pipeline.callBuffer(name, ...args);
    const replies = await pipeline.exec().catch((error: unknown) => commands.map(() => [error] as const));
    return (replies ?? []).map(([error, reply]) => error ?? reply);
  }

  fault(): RedisReason | undefined {
    return this.#selectFault ?? this.#fault;
  }

  untilReady(timeoutMs: number): Promise<void> {
    if (this.#redis.status === 'ready') return Promise.resolve();
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

  reconnect(): void {
    this.#redis.disconnect(true);
  }

  close(): void {
    this.#redis.disconnect();
  }
}

function isOfSelect(error: unknown): boolean {
  const command = error instanceof Error && 'command' in error ? error.command : undefined;
  return typeof command === 'object' && command !== null && 'name' in command && command.name === 'select';
}
