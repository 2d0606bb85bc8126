import { isReady, type LockConnection } from './lock-connection.js';

/** What a batch needs of a socket. */
interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Sends the commands of one turn in one write: ioredis makes a system call for each, which costs more than all the
 * rest of a command. The socket is corked at the second command under way and uncorked when the turn is over, so a
 * lone caller pays nothing and nobody waits longer than the turn. Order and failures stay as they are.
 *
 * Not for a Cluster, which has a socket for each node.
 */
export class WriteBatch {
  readonly #connection: LockConnection;
  #corked: Corkable | undefined;
  #underWay = 0;

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  /** To be called right before a command is handed to ioredis. */
  begin(): void {
    this.#underWay += 1;
    if (this.#underWay < 2 || this.#corked !== undefined) return;
    this.#corked = corkableOf(this.#connection);
    if (this.#corked === undefined) return;
    this.#corked.cork();
    process.nextTick(this.#uncork);
  }

  /** To be called when a command has settled. */
  end(): void {
    this.#underWay -= 1;
  }

  readonly #uncork = (): void => {
    const stream = this.#corked;
    this.#corked = undefined;
    stream?.uncork();
  };
}

function corkableOf(connection: LockConnection): Corkable | undefined {
  if (!isReady(connection) || !('stream' in connection)) return undefined;
  const stream: unknown = connection.stream;
  const isCorkable = typeof stream === 'object' && stream !== null && 'cork' in stream && 'uncork' in stream;
  return isCorkable ? (stream as Corkable) : undefined;
}
