import type { Hold } from '../../contract/batch.js';
import type { LockEvent } from '../../contract/event.js';

/** An event that is on its way but not encoded yet: building it is put off until its batch is built. */
export interface PendingEvent {
  /** Sent at once (losses, not-owned answers); the rest may wait a quarter of a second for company. */
  readonly urgent: boolean;
  /** Called when the batch is built; not called for an event that was dropped. Never throws. */
  encode(): LockEvent;
  /**
   * The JSON of {@link PendingEvent.encode}, for events made so often that `JSON.stringify` would be the largest part
   * of their cost. Used instead of it where there is one.
   */
  encodeJson?(): string;
}

/** What an emitter asks of the lock client while it builds batches. Every member is cheap and never throws. */
export interface EmitterSource {
  /** Name of the store that the locks live in. */
  readonly store: string;
  /** Run id of the Redis server, once known. */
  serverId(): string | undefined;
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
