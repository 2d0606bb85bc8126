import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../contract/clock.js';
import { RedisLockError } from '../../contract/errors.js';
import { type ListenAddress, writeListenAddress } from '../../contract/listen-address.js';
import { sendRefusal } from './refusal.js';
import { type ConnectionRefusal, refuseConnection, refuseTunnel } from './refuse-connection.js';
import { clearSocketPath, withSocketRights } from './unix-socket.js';

/** What a listener needs of the process around it. */
export interface ListenOptions {
  readonly clock: Clock;
  /** Hears of an error of the server itself, such as no file descriptor left for a connection. */
  reportFault(error: unknown): void;
  /** Counts a connection that was closed at once, or on which no request could be read. */
  countRefusal(reason: ConnectionRefusal | 'too_many_connections'): void;
  /** Most connections at a time; more are closed at once. Default 2000. */
  readonly maxConnections?: number;
}

/** A server that listens. */
export interface Listener {
  /** As it can be reached: `127.0.0.1:9723`, `[::1]:9723`, `unix:/path`. The port is the real one. */
  readonly address: string;
  /**
   * Takes no further connection, lets requests under way end, and cuts them off after `graceMs`. Resolves when
   * all is closed; removes the socket file. Safe to repeat. Never rejects.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Time-outs in ms. A request must be here within `requestTimeout`, so that a slow sender cannot keep a place. An
 * idle connection is kept longer than clients pause between batches: closing it in the moment of its next use
 * would break that request. The last bounds an answer that nobody reads.
 */
const SERVER_TIMES = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 65_000,
} as const;
const SILENCE_MS = 120_000;
/** Each is some KB. Far more than clients and scrapers have, far less than what exhausts file descriptors. */
const MAX_CONNECTIONS = 2000;

/**
 * Starts a server. `localhost` means 127.0.0.1, whatever the system makes of it, so that both sides mean the same.
 * @throws RedisLockError `listen_failed`, naming the address and the reason
 */
export async function listen(
  app: RequestListener,
  address: ListenAddress,
  options: ListenOptions,
): Promise<Listener> {
  const misfit = address.kind === 'unix' ? await clearSocketPath(address.path, options.clock) : undefined;
  if (misfit !== undefined) throw listenError(address, misfit);
  const listener = new HttpListener(app, address, options);
  await listener.start();
  return listener;
}

class HttpListener implements Listener {
  readonly #server: Server;
  readonly #wanted: ListenAddress;
  readonly #clock: Clock;
  readonly #reportFault: (error: unknown) => void;
  readonly #countRefusal: ListenOptions['countRefusal'];
  #bound: ListenAddress;
  readonly #answers = new WeakMap<Socket, ServerResponse>();
  #closed: Promise<void> | undefined;

  constructor(app: RequestListener, wanted: ListenAddress, options: ListenOptions) {
    const { clock, reportFault, countRefusal, maxConnections = MAX_CONNECTIONS } = options;
    this.#wanted = wanted;
    this.#bound = wanted;
    this.#clock = clock;
    // The apps judge the Host header themselves, and say in JSON what is wrong with it.
    this.#server = createServer({ ...SERVER_TIMES, requireHostHeader: false }, (request, response) => {
      this.#watch(response, request.socket);
      if (isReadable(request.url)) app(request, response);
      else this.#refuse(request, response, 'The address of the request cannot be read');
    });
    this.#server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      this.#watch(response, request.socket);
      this.#refuse(request, response, 'The Expect header may only be 100-continue');
    });
    this.#server.on('connect', (_request, socket) => countRefusal(refuseTunnel(socket)));
    this.#server.maxConnections = maxConnections;
    this.#server.timeout = SILENCE_MS;
    this.#server.on('clientError', (error, socket) => {
      const reason = refuseConnection(error, socket, this.#answers.get(socket as Socket));
      if (reason !== undefined) countRefusal(reason);
    });
    this.#server.on('drop', () => countRefusal('too_many_connections'));
    this.#reportFault = reportFault;
    this.#countRefusal = countRefusal;
  }

  get address(): string {
    return writeListenAddress(this.#bound);
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(listenError(this.#wanted, reasonOf(error), error));
      this.#server.once('error', fail);
      this.#server.once('listening', () => {
        this.#server.off('error', fail);
        this.#server.on('error', this.#reportFault);
        this.#bound = readBound(this.#server, this.#wanted);
        resolve();
      });
      this.#bind();
    });
  }

  close(graceMs: number): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      const cut = this.#clock.setTimer(() => this.#server.closeAllConnections(), graceMs);
      this.#server.close(() => {
        cut.cancel();
        resolve();
      });
      this.#server.closeIdleConnections();
    });
    return this.#closed;
  }

  #bind(): void {
    const wanted = this.#wanted;
    if (wanted.kind === 'unix') withSocketRights(() => this.#server.listen({ path: wanted.path }));
    else this.#server.listen({ host: bindHost(wanted.host), port: wanted.port });
  }

  /** What no app can be handed. */
  #refuse(request: IncomingMessage, response: ServerResponse, message: string): void {
    this.#countRefusal('bad_request');
    sendRefusal(request, response, { id: 'bad_request', message }, this.#clock);
  }

  /** A connection whose answer ends while the server closes would stay open until its idle time is over. */
  #watch(response: ServerResponse, socket: Socket): void {
    this.#answers.set(socket, response);
    if (this.#closed) response.setHeader('connection', 'close');
    response.once('close', () => {
      if (this.#closed) setImmediate(() => this.#server.closeIdleConnections());
    });
  }
}

/** A path always is; an absolute address may be broken, and Express would answer with a page of its own. */
function isReadable(url: string | undefined): boolean {
  return url === undefined || url.startsWith('/') || URL.canParse(url, 'http://localhost');
}

function bindHost(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** With the port that the system chose. */
function readBound(server: Server, wanted: ListenAddress): ListenAddress {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return wanted;
  return { kind: 'tcp', host: bound.address, port: bound.port };
}

function listenError(address: ListenAddress, reason: string, cause?: Error): RedisLockError {
  return new RedisLockError('listen_failed', `Cannot listen on ${writeListenAddress(address)}: ${reason}`, {
    cause,
  });
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return 'another process listens there';
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address';
    case 'EACCES':
      return 'this user may not listen there';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'this host name is not known';
    default:
      return error.message;
  }
}
