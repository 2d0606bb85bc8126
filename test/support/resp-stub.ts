import { createServer, type Server, type Socket } from 'node:net';
import { encodeReply, errorReply, type RespReply, raw, status, type WireReply } from './resp-reply.js';
import { RespRequestParser } from './resp-request.js';

/**
 * Answers one request; `args[0]` is the command as sent. Undefined leaves it to the defaults, which answer what
 * a client says on connecting (HELLO, AUTH, SELECT, CLIENT, INFO, PING, READONLY, QUIT) and refuse the rest.
 */
export type StubHandler = (args: Buffer[], context: StubContext) => StubAnswer | Promise<StubAnswer>;

/** See {@link StubHandler}. */
export type StubAnswer = RespReply | undefined;

/** What a handler may know about the request. */
export interface StubContext {
  /** The command in upper case. */
  command: string;
  /** 1 for the first request of this command, over all connections. */
  count: number;
  /** 1 for the first connection. */
  connection: number;
}

/** How a stub is started. */
export interface RespStubOptions {
  handler?: StubHandler;
  /** Sent to each new connection before anything is read, such as `redisErrors.maxClients()`. */
  greeting?: WireReply;
  /** Default: a free one. */
  port?: number;
}

/** Starts a small server on 127.0.0.1 that speaks RESP and answers what the test wants. */
export async function startRespStub(options: RespStubOptions = {}): Promise<RespStub> {
  const stub = new RespStub(options);
  await stub.listen(options.port ?? 0);
  return stub;
}

/** A Redis that lies on demand. `handler` and `greeting` may be replaced at any time. */
export class RespStub {
  readonly host = '127.0.0.1';
  handler: StubHandler;
  greeting: WireReply | undefined;
  /** Every request so far as text, command in upper case: `['GET', 'lock:a']`. */
  readonly requests: string[][] = [];
  readonly #sockets = new Set<Socket>();
  readonly #counts = new Map<string, number>();
  readonly #server: Server;
  #connections = 0;

  constructor(options: RespStubOptions) {
    this.handler = options.handler ?? (() => undefined);
    this.greeting = options.greeting;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  get port(): number {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  /** The requests of one command. */
  requestsOf(command: string): string[][] {
    return this.requests.filter(([name]) => name === command.toUpperCase());
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, this.host, resolve);
    });
  }

  /** Closes every connection; the stub goes on accepting. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Closes everything. May be repeated. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cutAll();
    await closed;
  }

  #serve(socket: Socket): void {
    this.#connections += 1;
    const connection = this.#connections;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    if (this.greeting !== undefined) send(socket, this.greeting);
    const parser = new RespRequestParser();
    // Replies keep the order of the requests, also when a handler takes its time.
    let turn = Promise.resolve();
    socket.on('data', (chunk) => {
      for (const { args } of parser.push(chunk)) {
        turn = turn.then(async () => send(socket, await this.#answer(args, connection)));
      }
    });
  }

  async #answer(args: Buffer[], connection: number): Promise<WireReply> {
    const command = (args[0]?.toString('latin1') ?? '').toUpperCase();
    const count = (this.#counts.get(command) ?? 0) + 1;
    this.#counts.set(command, count);
    this.requests.push([command, ...args.slice(1).map(String)]);
    const answer = await this.handler(args, { command, count, connection });
    return encodeReply(answer === undefined ? defaultAnswer(command, args) : answer);
  }
}

function send(socket: Socket, reply: WireReply): void {
  if (socket.destroyed) return;
  if (reply.close) socket.end(reply.wire);
  else if (reply.wire.length > 0) socket.write(reply.wire);
}

function defaultAnswer(command: string, args: Buffer[]): RespReply {
  switch (command) {
    case 'HELLO':
      return hello(String(args[1] ?? '2'));
    case 'AUTH':
    case 'SELECT':
    case 'CLIENT':
    case 'READONLY':
    case 'QUIT':
      return status('OK');
    case 'PING':
      return status('PONG');
    case 'INFO':
      return stubInfo();
    default:
      return errorReply(`ERR unknown command '${args[0] ?? ''}', with args beginning with: `);
  }
}

/** INFO of a stub, with other or more fields on demand: `stubInfo({ loading: 1 })`. */
export function stubInfo(fields: Readonly<Record<string, string | number>> = {}): string {
  const all = {
    redis_version: '7.0.15',
    redis_mode: 'standalone',
    run_id: '0'.repeat(40),
    loading: 0,
    role: 'master',
  };
  const lines = Object.entries({ ...all, ...fields }).map(([name, value]) => `${name}:${value}`);
  return `# Stub\r\n${lines.join('\r\n')}\r\n`;
}

function hello(protocol: string): RespReply {
  const fields: RespReply[] = [
    'server',
    'redis',
    'version',
    '7.0.15',
    'proto',
    Number(protocol),
    'mode',
    'standalone',
  ];
  const body = fields.map((field) => encodeReply(field).wire);
  const head = protocol === '3' ? `%${body.length / 2}\r\n` : `*${body.length}\r\n`;
  return raw(Buffer.concat([Buffer.from(head), ...body]));
}
