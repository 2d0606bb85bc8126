import { isEnded, isReady, type LockConnection } from './lock-connection.js';

/** Somebody who wants to send. */
export interface GateWaiter {
  /** The connection is ready: send now. */
  onReady(): void;
  /** The connection was closed for good. */
  onEnd(): void;
}

/**
 * Holds commands back while the connection is not ready. ioredis would queue them, and could carry out an acquire long
 * after its caller gave up; what waits here can still be taken back.
 *
 * Listens on the connection only while somebody waits.
 */
export class ReadyGate {
  readonly #connection: LockConnection;
  readonly #waiters = new Set<GateWaiter>();
  #lastError: Error | undefined;

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  /** True when a command may be sent at once; so may be one to an ended connection, which refuses it itself. */
  get isOpen(): boolean {
    return isReady(this.#connection) || isEnded(this.#connection);
  }

  /** What kept the connection from becoming ready, as far as it was heard while somebody waited. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Waiters are called in their order, each once. A connection not begun yet is begun. */
  wait(waiter: GateWaiter): void {
    if (this.#waiters.size === 0) this.#listen();
    this.#waiters.add(waiter);
    // A failure shows as `reconnecting` or `end`; there is nothing to handle here.
    if (this.#connection.status === 'wait') this.#connection.connect().catch(() => {});
  }

  leave(waiter: GateWaiter): void {
    if (this.#waiters.delete(waiter) && this.#waiters.size === 0) this.#unlisten();
  }

  #listen(): void {
    this.#connection.on('ready', this.#onReady);
    this.#connection.on('end', this.#onEnd);
    this.#connection.on('error', this.#onError);
  }

  #unlisten(): void {
    this.#connection.off('ready', this.#onReady);
    this.#connection.off('end', this.#onEnd);
    this.#connection.off('error', this.#onError);
  }

  readonly #onError = (error: Error): void => {
    this.#lastError = error;
  };

  readonly #onReady = (): void => {
    this.#lastError = undefined;
    for (const waiter of this.#takeAll()) waiter.onReady();
  };

  readonly #onEnd = (): void => {
    for (const waiter of this.#takeAll()) waiter.onEnd();
  };

  #takeAll(): GateWaiter[] {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    this.#unlisten();
    return waiters;
  }
}
