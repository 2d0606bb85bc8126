import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { onFreePort } from './free-port.js';
import { type ChildHandle, type ExitInfo, spawnChild } from './processes.js';
import { requireBinary } from './require-binary.js';
import { makeTempDir, type TempDir } from './temp-dir.js';

/** Options of a connection; replies keep their plain shapes. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/**
 * Set for connections of tests: when the server is gone already, ioredis keeps a timer for this long after
 * `disconnect()`, 2 s by default, and with it the process.
 */
export const BRIEF_GOODBYE = { disconnectTimeout: 50 };

/** What a test may ask of its Redis. */
export interface RedisServerOptions {
  /** More arguments of redis-server. Leave `loglevel` at notice: readiness is read from the log. */
  args?: readonly string[];
  /** Password of the default user; `client()` and `url` use it. */
  password?: string;
  /** ACL users, one rule text each: `app on >secret ~lock:* +@all`. They survive `restart()`. */
  acl?: readonly string[];
  /** Also listen on a unix socket; its path is `unixSocket` of the server. */
  unixSocket?: boolean;
}

/** A running redis-server of one test, which stores nothing on disk. */
export interface RedisServer {
  readonly host: '127.0.0.1';
  readonly port: number;
  /** `redis://…`, with the password of the default user when there is one. */
  readonly url: string;
  /** Changes with `restart()`. */
  readonly pid: number;
  /** Path of the unix socket, when one was asked for. */
  readonly unixSocket: string | undefined;
  /** Every line of the server's log, across restarts of the current process only. */
  log(): readonly string[];
  /** A connection that is closed by `stop()`. Its `error` events are swallowed: a test looks at the commands. */
  client(options?: ClientOptions): Redis;
  /** Closes the connections made by `client()`, ends the server and removes its folder. May be repeated. */
  stop(): Promise<void>;
  /** Sends a signal that ends the server, and waits for the exit. Default SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<ExitInfo>;
  /** SIGSTOP; resolves when the server really stands still. */
  pause(): Promise<void>;
  /** SIGCONT. */
  resume(): Promise<void>;
  /** Kills the server if it runs and starts an empty one on the same port; resolves when that is ready. */
  restart(): Promise<void>;
}

/**
 * Starts a real redis-server on a free port of 127.0.0.1 and waits until it accepts commands.
 *
 * @throws Error when redis-server is missing, or ended before it was ready (with its log).
 */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const dir = makeTempDir('redis');
  try {
    return await onFreePort(async (port) => {
      const child = await launch(options, dir, port);
      return new LocalRedis(options, dir, child, port);
    });
  } catch (error) {
    dir.remove();
    throw error;
  }
}

class LocalRedis implements RedisServer {
  readonly host = '127.0.0.1';
  readonly #options: RedisServerOptions;
  readonly #dir: TempDir;
  readonly #clients = new Set<Redis>();
  #child: ChildHandle;

  constructor(
    options: RedisServerOptions,
    dir: TempDir,
    child: ChildHandle,
    readonly port: number,
  ) {
    this.#options = options;
    this.#dir = dir;
    this.#child = child;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get url(): string {
    const { password } = this.#options;
    const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
    return `redis://${login}${this.host}:${this.port}`;
  }

  get unixSocket(): string | undefined {
    return this.#options.unixSocket ? socketPath(this.#dir) : undefined;
  }

  log(): readonly string[] {
    return this.#child.stdout.lines;
  }

  client(options: ClientOptions = {}): Redis {
    const { password } = this.#options;
    const login = password === undefined ? {} : { password };
    const client = new Redis({ host: this.host, port: this.port, ...BRIEF_GOODBYE, ...login, ...options });
    client.on('error', () => {});
    client.once('end', () => this.#clients.delete(client));
    this.#clients.add(client);
    return client;
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    this.#clients.clear();
    await this.#child.kill('SIGKILL');
    this.#dir.remove();
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<ExitInfo> {
    return this.#child.kill(signal);
  }

  pause(): Promise<void> {
    return this.#child.pause();
  }

  resume(): Promise<void> {
    return this.#child.resume();
  }

  async restart(): Promise<void> {
    await this.#child.kill('SIGKILL');
    this.#child = await launch(this.#options, this.#dir, this.port);
  }
}

/** Ready is what this very process says, not what some server on the port answers. */
async function launch(options: RedisServerOptions, dir: TempDir, port: number): Promise<ChildHandle> {
  const program = requireBinary('redis-server', 'redis-server');
  const child = await spawnChild(program, { args: serverArgs(options, dir, port), cwd: dir.path });
  child.endInput();
  try {
    await child.stdout.next(/Ready to accept connections/, {
      what: `redis-server on port ${port} to be ready`,
    });
    return child;
  } catch (error) {
    await child.kill('SIGKILL');
    throw new Error(`redis-server did not start: ${String(error)}\n${child.stderr.text()}`, { cause: error });
  }
}

function serverArgs(options: RedisServerOptions, dir: TempDir, port: number): string[] {
  const { args = [], password, acl = [], unixSocket } = options;
  return [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir.path],
    ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
    // A master waits 5 s for more replicas before it syncs the first, unless told otherwise.
    ...['--repl-diskless-sync-delay', '0'],
    ...(password === undefined ? [] : ['--requirepass', password]),
    ...acl.flatMap((rule) => ['--user', ...rule.split(' ')]),
    ...(unixSocket ? ['--unixsocket', socketPath(dir)] : []),
    ...args,
  ];
}

function socketPath(dir: TempDir): string {
  return join(dir.path, 'redis.sock');
}
