import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { DEFAULT_COMMAND_TIMEOUT_MS } from './options.js';

/** A host and a port. */
export interface Address {
  host: string;
  port: number;
}

/** What all kinds of connections may be told. */
export interface CommonConnectionOptions {
  /** ACL user. Default: Redis's default user. */
  username?: string;
  password?: string;
  /** TLS settings of Node (`ca`, `cert`, `servername` ...); `{}` for the system's authorities. */
  tls?: TlsOptions;
  /** Text before every key, locks and fences alike. */
  keyPrefix?: string;
  /** Name in CLIENT LIST. Default `redis-lock`. */
  connectionName?: string;
  /** Longest wait for an answer, in ms. Default 1000. Give the lock client the same. */
  commandTimeoutMs?: number;
  /** Longest wait for a connection, in ms. Default 2000. */
  connectTimeoutMs?: number;
  /** Connect at the first command instead of now. Default false. */
  lazyConnect?: boolean;
  /**
   * Gets connection errors. Default: one process warning for each outage, where ioredis would print each try. Failed
   * locks are told by their outcome all the same.
   */
  onError?: (error: Error) => void;
}

/** One server. */
export interface ServerConnectionOptions extends CommonConnectionOptions {
  /** `redis://` or `rediss://user:password@host:port/db`. What it says wins over the other options. */
  url?: string;
  host?: string;
  port?: number;
  /** Unix socket. */
  path?: string;
  db?: number;
}

/** The master that Sentinel names. */
export interface SentinelConnectionOptions extends CommonConnectionOptions {
  sentinels: readonly Address[];
  /** Name of the group. Default `mymaster`. */
  masterName?: string;
  sentinelUsername?: string;
  sentinelPassword?: string;
  /** TLS to the sentinels. Default: none. */
  sentinelTls?: TlsOptions;
  db?: number;
}

/** A Redis Cluster. */
export interface ClusterConnectionOptions extends CommonConnectionOptions {
  /** Some of its nodes, to find the others from. */
  cluster: readonly Address[];
}

/** Replies keep their plain shapes, whatever the protocol. */
type PlainOptions = Omit<RedisOptions, 'replyMapping'>;

const DEFAULT_CONNECT_TIMEOUT_MS = 2000;
/** Command time-outs without any byte from Redis after which a socket with waiting commands is given up. */
const DEAD_SOCKET_TIMEOUTS = 3;
/** First and longest pause between two tries to connect, in ms. */
const FIRST_RECONNECT_MS = 20;
const LONGEST_RECONNECT_MS = 1000;

/**
 * Makes a connection that is fit for locks, and for nothing else: with a command time-out, without offline queue (the
 * lock client holds commands back itself, and can take them back), away from a demoted server at its first READONLY.
 * The caller closes it, after the lock client.
 */
export function createLockConnection(options: ClusterConnectionOptions): Cluster;
export function createLockConnection(options?: ServerConnectionOptions | SentinelConnectionOptions): Redis;
export function createLockConnection(
  options: ServerConnectionOptions | SentinelConnectionOptions | ClusterConnectionOptions = {},
): Redis | Cluster {
  const connection = 'cluster' in options ? connectCluster(options) : connectRedis(options);
  connection.on('error', options.onError ?? warnOncePerOutage(connection));
  return connection;
}

/** Tells the first error after each time that the connection was ready. */
function warnOncePerOutage(connection: Redis | Cluster): (error: Error) => void {
  let isTold = false;
  connection.on('ready', () => {
    isTold = false;
  });
  return ({ message }) => {
    if (isTold) return;
    isTold = true;
    process.emitWarning(`The connection to Redis failed and is tried again and again: ${message}`, {
      code: 'REDIS_LOCK_CONNECTION',
    });
  };
}

function connectCluster(options: ClusterConnectionOptions): Cluster {
  const { keyPrefix, lazyConnect = false } = options;
  return new Cluster([...options.cluster], {
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    lazyConnect,
    enableOfflineQueue: false,
    clusterRetryStrategy: reconnectMs,
    // The lock client waits and retries by itself, within its limits and under its own token.
    retryDelayOnClusterDown: 0,
    redisOptions: nodeOptions(options),
  } satisfies ClusterOptions);
}

function connectRedis(options: ServerConnectionOptions | SentinelConnectionOptions): Redis {
  const { keyPrefix, lazyConnect = false } = options;
  const settings: PlainOptions = {
    ...nodeOptions(options),
    ...('sentinels' in options ? sentinelOptions(options) : serverOptions(options)),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    lazyConnect,
    enableOfflineQueue: false,
    retryStrategy: reconnectMs,
    // Once for each socket: ioredis would end it again for every command under way, and warn of a leak of listeners.
    reconnectOnError: (error) => isReadonly(error) && redis.stream?.writableEnded !== true,
  };
  const url = 'url' in options ? options.url : undefined;
  const redis: Redis = url === undefined ? new Redis(settings) : new Redis(url, settings);
  return redis;
}

function nodeOptions(options: CommonConnectionOptions) {
  const { username, password, tls, connectionName = 'redis-lock' } = options;
  const { commandTimeoutMs = DEFAULT_COMMAND_TIMEOUT_MS, connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } =
    options;
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    connectionName,
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    // A silent socket is not noticed by a command time-out: without this it would be used for minutes.
    socketTimeout: commandTimeoutMs * DEAD_SOCKET_TIMEOUTS,
    // Resent once after a reconnect, which the owner token makes harmless; then it fails, so that nothing is resent late.
    autoResendUnfulfilledCommands: true,
    maxRetriesPerRequest: 1,
    reconnectOnError: isReadonly,
  } satisfies PlainOptions;
}

function serverOptions({ host, port, path, db }: ServerConnectionOptions): PlainOptions {
  return {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(path === undefined ? {} : { path }),
    ...(db === undefined ? {} : { db }),
  };
}

function sentinelOptions(options: SentinelConnectionOptions): PlainOptions {
  const {
    sentinels,
    masterName = 'mymaster',
    sentinelUsername,
    sentinelPassword,
    sentinelTls,
    db,
    tls,
  } = options;
  return {
    sentinels: [...sentinels],
    name: masterName,
    role: 'master',
    failoverDetector: true,
    sentinelRetryStrategy: reconnectMs,
    enableTLSForSentinelMode: tls !== undefined,
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(sentinelTls === undefined ? {} : { sentinelTLS: sentinelTls }),
    ...(db === undefined ? {} : { db }),
  };
}

/** Never gives up: a lock client without a connection fails each lock anyway, and must come back by itself. */
function reconnectMs(attempt: number): number {
  return Math.min(LONGEST_RECONNECT_MS, FIRST_RECONNECT_MS * 2 ** Math.min(attempt - 1, 10));
}

/** The server was demoted: leave it. The failed command is not resent; the lock client decides about it. */
function isReadonly(error: Error): boolean {
  return error.message.startsWith('READONLY');
}
