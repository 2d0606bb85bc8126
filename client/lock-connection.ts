import type { Cluster, Redis } from 'ioredis';

/** The connection of a lock client: ioredis 5 or later, to one server, through Sentinel, or to a Cluster. */
export type LockConnection = Redis | Cluster;

/** Text that ioredis puts in front of every key; empty without one. */
export function keyPrefixOf(connection: LockConnection): string {
  return connection.options.keyPrefix ?? '';
}

/** True when nothing sent now can reach Redis: the connection was closed for good. */
export function isEnded(connection: LockConnection): boolean {
  return connection.status === 'end';
}

/** True when a command sent now is written at once: also between the end of a socket and ioredis noticing it, it is not. */
export function isReady(connection: LockConnection): boolean {
  if (connection.status !== 'ready') return false;
  // A Cluster has a socket for each node, and none of its own.
  return !('stream' in connection) || connection.stream?.writable !== false;
}
