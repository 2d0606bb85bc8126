import type { LockEvent } from '../../contract/event.js';

/**
 * How far the present batch of a client tells what happened there. A client sends its events in order, and not always all: a long
 * queue takes several batches, and while a set of holds is sent in parts, events wait behind it. So a hold whose release is
 * not in a batch may have been released before that was built.
 */
export class EmittedUntil {
  #isAll = true;
  #isPart = false;
  #us = Number.NEGATIVE_INFINITY;
  #serverId: string | undefined = undefined;

  /** A batch begins, without events and without a part of a set so far. */
  begin(): void {
    this.#isAll = true;
    this.#isPart = false;
    this.#us = Number.NEGATIVE_INFINITY;
  }

  /** The batch carries an event: there may be more to come. @param serverId of the event's time */
  take({ serverUs }: LockEvent, serverId: string | undefined): void {
    this.#isAll = false;
    if (serverUs === undefined) return;
    this.#us = serverId === this.#serverId ? Math.max(this.#us, serverUs) : serverUs;
    this.#serverId = serverId;
  }

  /** The batch carries a part of a set that was begun in an earlier batch, or goes on in a later one. */
  takePart(): void {
    this.#isPart = true;
  }

  /** Nothing waited when the batch was built. */
  get isAll(): boolean {
    return this.#isAll && !this.#isPart;
  }

  /** Whether all that was emitted before this time of that server had come. A set says what events that were lost would have. */
  isAfter(us: number, serverId: string): boolean {
    return !this.#isPart && this.#serverId === serverId && this.#us >= us;
  }
}
