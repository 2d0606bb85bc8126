import type { LockConnection } from './lock-connection.js';
import type { LockWarning, Warnings } from './warnings.js';

/** The settings that decide whether a connection is fit for locks, of `Redis` and `Cluster` alike. */
interface Settings {
  readonly commandTimeout?: unknown;
  readonly enableOfflineQueue?: unknown;
  readonly autoResendUnfulfilledCommands?: unknown;
  readonly reconnectOnError?: unknown;
  readonly retryStrategy?: unknown;
  readonly clusterRetryStrategy?: unknown;
  readonly role?: unknown;
  readonly redisOptions?: Settings;
}

type Fault = (settings: Settings, isCluster: boolean) => string | undefined;

/** Each tells why a setting is unsafe and what to set, or undefined. */
const FAULTS: Readonly<Record<string, Fault>> = {
  no_command_timeout: ({ commandTimeout }) =>
    commandTimeout === undefined
      ? 'The connection has no commandTimeout: when Redis goes silent, commands pile up in ioredis until TCP gives up, after minutes. Set commandTimeout, for example to 1000.'
      : undefined,
  offline_queue: ({ enableOfflineQueue }) =>
    enableOfflineQueue !== false
      ? 'The connection has its offline queue on: a command that meets a breaking connection is kept, and may take a lock later, for a caller who gave up. The client takes such a lock back, but others wait for it meanwhile. Set enableOfflineQueue to false.'
      : undefined,
  no_auto_resend: ({ autoResendUnfulfilledCommands }) =>
    autoResendUnfulfilledCommands === false
      ? 'The connection has autoResendUnfulfilledCommands off: ioredis then never settles a command whose answer was lost with the connection, so that every lost answer costs the whole command time-out. Leave it on; the owner token makes a resend harmless.'
      : undefined,
  no_reconnect_on_readonly: ({ reconnectOnError }, isCluster) =>
    isCluster || reconnectsOnReadonly(reconnectOnError)
      ? undefined
      : 'The connection has no reconnectOnError for READONLY: after a failover it stays with the demoted server, and every lock fails until the process is restarted. Set reconnectOnError to (error) => error.message.startsWith("READONLY").',
  no_reconnect: ({ retryStrategy, clusterRetryStrategy }, isCluster) =>
    typeof (isCluster ? clusterRetryStrategy : retryStrategy) === 'function'
      ? undefined
      : 'The connection has no retry strategy: once lost, it never comes back. Set retryStrategy (clusterRetryStrategy for a Cluster) to a function that always returns a delay.',
  replica_role: ({ role }) =>
    role === 'slave'
      ? 'The connection asks Sentinel for a replica, which refuses every lock. Set role to "master".'
      : undefined,
};

/**
 * Warns of each setting of a connection that is unsafe for locks, once per setting. A connection made by
 * `createLockConnection` gets none.
 */
export function adviseOnConnection(connection: LockConnection, warnings: Warnings): void {
  for (const warning of judgeConnection(connection)) warnings.give(warning);
}

/** What is unsafe about a connection's settings. */
export function judgeConnection(connection: LockConnection): LockWarning[] {
  const own = connection.options as Settings;
  const settings = connection.isCluster ? { ...own.redisOptions, ...own } : own;
  return Object.entries(FAULTS).flatMap(([code, fault]) => {
    const message = fault(settings, connection.isCluster);
    return message === undefined ? [] : [{ code, message }];
  });
}

/** Asks the function itself: what it does is not written in its name. */
function reconnectsOnReadonly(reconnectOnError: unknown): boolean {
  if (typeof reconnectOnError !== 'function') return false;
  try {
    return Boolean(reconnectOnError(new Error("READONLY You can't write against a read only replica.")));
  } catch {
    return false;
  }
}
