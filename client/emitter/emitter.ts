import type { Hold } from '../../contract/batch.js';
import type { LockEvent } from '../../contract/event.js';

/** An event that is on its way but not encoded yet: building it is put off until the lock operation has gone on. */
export interface PendingEvent {
  /** Sent at once (losses, not-owned answers); the rest may wait a quarter of a second for company. */
  readonly urgent: boolean;
  /**
   * To be called after the turn of the event loop in which the event was emitted, at its end at the latest for an
   * emitter that sends the server's id with the batch. Never throws.
   */
  encode(): LockEvent;
  /**
   * The JSON of {@link PendingEvent.encode}, in ASCII, for events made so often that `JSON.stringify` would be the
   * largest part of their cost.
   */
  encodeJson?(): string;
}

/** One connection to one Redis process: another object says that it may be another process. */
export interface EventServer {
  /** Run id of the server, once known. */
  readonly id: string | undefined;
}

/** What an emitter asks of the lock client while it builds batches. Every member is cheap and never throws. */
export interface EmitterSource {
  /** Name of the store that the locks live in. */
  readonly store: string;
  /** The server that is current now. An event that names no server means the one current when it was encoded. */
  server(): EventServer;
  /** The full set of locks held now. Read in one synchronous turn. */
  holds(): Iterable<Hold>;
  holdCount(): number;
  /** Shortest lease among the holds; undefined when nothing is held. */
  shortestLeaseMs(): number | undefined;
}

/** The way out for the events of one lock client. No member throws, blocks, or has to be awaited. */
export interface EventChannel {
  emit(event: PendingEvent): void;
  /** To be called after each grant, renewal of another length, and ending, so that heartbeats follow the holds. */
  holdsChanged(): void;
  /**
   * Flushes once more, for at most `timeoutMs` (default 1,000; 0: not at all), and counts what is left as dropped (`shutdown`).
   * Never rejects. Repeated calls give the same promise; events emitted after it has settled are dropped.
   */
  close(timeoutMs?: number): Promise<void>;
}

/** Where the events of lock clients go. Each lock client opens one channel. */
export interface Emitter {
  open(source: EmitterSource): EventChannel;
}

/** Sends nothing, keeps nothing, encodes nothing. */
export function noEmitter(): Emitter {
  return {
    open: () => ({ emit: () => {}, holdsChanged: () => {}, close: () => Promise.resolve() }),
  };
}
