import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, type Random, systemClock } from '../../contract/clock.js';
import { RedisLockError } from '../../contract/errors.js';
import { plainTextPattern } from '../../contract/text.js';
import type { Emitter, EmitterSource } from './emitter.js';
import { DEFAULT_QUEUE_LIMIT } from './event-queue.js';
import { HttpChannel, type HttpEventChannel } from './http-channel.js';
import { HttpTransport, type Token } from './http-transport.js';
import { type IngestAddress, parseIngestAddress } from './ingest-address.js';
import { Warnings, warnThroughNode } from './warnings.js';

/**
 * Time for one attempt. An exporter answers within milliseconds; five seconds tell a busy one from a dead one,
 * and bound what a half-open connection costs.
 */
const DEFAULT_REQUEST_TIMEOUT_MS = 5000;
/** Time that the end of a process may be put off. People wait for a process to exit; half a second is not noticed. */
const DEFAULT_EXIT_FLUSH_MS = 500;
const MAX_QUEUE_LIMIT = 1_000_000;
const MAX_TIME_MS = 600_000;
const MAX_NAME_LENGTH = 64;
/** Leaves room for a process id within a name's length. */
const MAX_HOST_LENGTH = 50;

/** Where events go, under which name, and how much of them is kept. */
export interface HttpEmitterOptions {
  /**
   * The exporter: `http://host:port`, `https://host:port`, `host:port` or `unix:/path`; a path is put before
   * `/v1/events`. Default: `127.0.0.1:9723`, where the exporter listens by default.
   */
  readonly url?: string;
  /** The exporter's unix socket, an absolute path, instead of `url`. */
  readonly socketPath?: string;
  /** Name of the application, 1 to 64 characters. */
  readonly app: string;
  /** Name of this process, 1 to 64 characters. Default: host name and process id. */
  readonly instance?: string;
  /** The secret of the exporter's `--token-file`. A function is asked before each attempt. Never shown anywhere. */
  readonly token?: Token;
  /** Most events kept while the exporter cannot take them, 1 to 1,000,000. Default 10,000. */
  readonly queueLimit?: number;
  /** Time for one attempt to deliver, 1 to 600,000 ms. Default 5,000. */
  readonly requestTimeoutMs?: number;
  /**
   * When the process has nothing left to do, its end is put off by up to this time to deliver what is left, 0
   * to 600,000 ms. Default 500; 0 turns it off. `process.exit()` and signals skip it: close the client first.
   */
  readonly exitFlushMs?: number;
  readonly clock?: Clock;
  /** Spreads attempts in time. Default `Math.random`. */
  readonly random?: Random;
  /** Told of each kind of trouble at most once in ten minutes. Default: a process warning of type `RedisLockWarning`. */
  readonly onWarning?: (message: string) => void;
}

/** An emitter whose channels tell what became of their events. */
export interface HttpEmitter extends Emitter {
  open(source: EmitterSource): HttpEventChannel;
}

/**
 * Sends the events of lock clients to an exporter. Nothing it does can hurt the lock: it never throws once it
 * is made, nobody waits for it, its memory is bounded, what it drops is counted and told to the exporter, and
 * it does not keep the process alive. Nothing is connected before the first event.
 *
 * Each channel is a producer of its own, with a connection of its own.
 *
 * @throws RedisLockError `invalid_option`
 */
export function createHttpEmitter(options: HttpEmitterOptions): HttpEmitter {
  const address = parseIngestAddress(options.url, options.socketPath);
  const settings = readSettings(options);
  const warnings = new Warnings(settings.clock, options.onWarning ?? warnThroughNode);
  const exit = new ExitFlush(settings.exitFlushMs);
  return {
    open: (source) => {
      const channel = openChannel(source, address, settings, warnings, exit);
      exit.add(channel);
      return channel;
    },
  };
}

type Settings = ReturnType<typeof readSettings>;

function readSettings(options: HttpEmitterOptions) {
  const { instance = `${hostname().slice(0, MAX_HOST_LENGTH)}-${process.pid}` } = options;
  const {
    queueLimit = DEFAULT_QUEUE_LIMIT,
    requestTimeoutMs = DEFAULT_REQUEST_TIMEOUT_MS,
    exitFlushMs = DEFAULT_EXIT_FLUSH_MS,
  } = options;
  return {
    app: checkName('app', options.app),
    instance: checkName('instance', instance),
    token: options.token,
    queueLimit: checkWhole('queueLimit', queueLimit, 1, MAX_QUEUE_LIMIT),
    requestTimeoutMs: checkWhole('requestTimeoutMs', requestTimeoutMs, 1, MAX_TIME_MS),
    exitFlushMs: checkWhole('exitFlushMs', exitFlushMs, 0, MAX_TIME_MS),
    clock: options.clock ?? systemClock(),
    random: options.random ?? Math.random,
  };
}

function openChannel(
  source: EmitterSource,
  address: IngestAddress,
  settings: Settings,
  warnings: Warnings,
  exit: ExitFlush,
): HttpChannel {
  const { app, instance, clock, random, queueLimit, token, requestTimeoutMs } = settings;
  return new HttpChannel({
    identity: { producer: randomUUID(), startedAtMs: clock.wallMs(), app, instance },
    source,
    port: new HttpTransport({ address, token, requestTimeoutMs, clock }),
    queueLimit,
    clock,
    random,
    warnings,
    address: address.text,
    onClosed: (channel) => exit.remove(channel),
  });
}

/** Flushes open channels when the process runs out of work. Listens to the process only while there are some. */
class ExitFlush {
  readonly #timeoutMs: number;
  readonly #channels = new Set<HttpChannel>();
  readonly #onBeforeExit = () => {
    for (const channel of this.#channels) channel.flushAtExit(this.#timeoutMs);
  };

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(channel: HttpChannel): void {
    if (this.#timeoutMs === 0) return;
    if (this.#channels.size === 0) process.on('beforeExit', this.#onBeforeExit);
    this.#channels.add(channel);
  }

  remove(channel: HttpChannel): void {
    if (this.#channels.delete(channel) && this.#channels.size === 0) {
      process.off('beforeExit', this.#onBeforeExit);
    }
  }
}

function checkName(option: string, value: string): string {
  const fits = typeof value === 'string' && value.length <= MAX_NAME_LENGTH && plainTextPattern().test(value);
  if (fits) return value;
  throw invalid(`${option} must be 1 to ${MAX_NAME_LENGTH} characters without control characters`);
}

function checkWhole(option: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(`${option} must be a whole number from ${min} to ${max}`);
}

function invalid(fault: string): RedisLockError {
  return new RedisLockError('invalid_option', `The emitter cannot be made: ${fault}`);
}
