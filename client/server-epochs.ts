import type { LockConnection } from './lock-connection.js';

/** One connection to one Redis process, as far as the client can tell. Its run id becomes known a little later. */
export class ServerEpoch {
  /** Run id of the server; undefined as long as it is not known. */
  id: string | undefined;
  /**
   * The server itself answered, and no proxy that has none of its own: every key is there. False as long as that is
   * not known, and on a node of a cluster.
   */
  hasAllKeys = false;
  readonly #oneServer: boolean;

  /** @param oneServer false when answers may come from several servers (Cluster): such are never compared */
  constructor(oneServer: boolean) {
    this.#oneServer = oneServer;
  }

  /** True only when both are surely the same Redis process. */
  isSameServer(other: ServerEpoch): boolean {
    if (this === other) return this.#oneServer;
    return this.id !== undefined && this.id === other.id;
  }
}

/** Follows which Redis process a connection leads to. */
export interface ServerEpochs {
  readonly current: ServerEpoch;
  /** Takes the listeners off the connection. */
  stop(): void;
}

/**
 * Watches a connection: each closing begins a new epoch, and each `ready` asks for the run id, since ioredis does
 * not keep it. Where INFO is not allowed, and on a Cluster, the id stays unknown.
 */
export function watchServer(connection: LockConnection): ServerEpochs {
  return connection.isCluster ? new ClusterEpochs(connection) : new ConnectionEpochs(connection);
}

/** A Cluster has many servers; a node that goes begins a new epoch, since commands to it may be sent again elsewhere. */
class ClusterEpochs implements ServerEpochs {
  readonly #connection: LockConnection;
  #current = new ServerEpoch(false);

  constructor(connection: LockConnection) {
    this.#connection = connection;
    connection.on('-node', this.#onGone);
  }

  get current(): ServerEpoch {
    return this.#current;
  }

  stop(): void {
    this.#connection.off('-node', this.#onGone);
  }

  readonly #onGone = (): void => {
    this.#current = new ServerEpoch(false);
  };
}

class ConnectionEpochs implements ServerEpochs {
  readonly #connection: LockConnection;
  #current = new ServerEpoch(true);

  constructor(connection: LockConnection) {
    this.#connection = connection;
    connection.on('ready', this.#onReady);
    connection.on('close', this.#onClose);
    if (connection.status === 'ready') this.#onReady();
  }

  get current(): ServerEpoch {
    return this.#current;
  }

  stop(): void {
    this.#connection.off('ready', this.#onReady);
    this.#connection.off('close', this.#onClose);
  }

  readonly #onClose = (): void => {
    this.#current = new ServerEpoch(true);
  };

  readonly #onReady = (): void => {
    const epoch = this.#current;
    this.#connection.info('server').then(
      (info) => {
        epoch.id = runIdOf(info);
        epoch.hasAllKeys = epoch.id !== undefined && !CLUSTER_MODE.test(String(info));
      },
      () => {
        // Not allowed, or the connection went: the id stays unknown, and nothing is compared by it.
      },
    );
  };
}

const CLUSTER_MODE = /^redis_mode:cluster\s*$/m;

function runIdOf(info: unknown): string | undefined {
  return typeof info === 'string' ? /^run_id:([0-9A-Za-z]{1,40})\s*$/m.exec(info)?.[1] : undefined;
}
