import { type Channel, channel } from 'node:diagnostics_channel';
import type { LockEvent } from '../contract/event.js';
import type { EventChannel, PendingEvent } from './emitter/emitter.js';

/** Name of the `node:diagnostics_channel` on which every event is published while somebody subscribes. */
export const DIAGNOSTICS_CHANNEL = 'redis-lock:event';

/** What subscribers of the channel get: the event of the contract, without the key. */
export interface DiagnosticsMessage {
  readonly store: string;
  readonly event: LockEvent;
}

/** Where a lock client puts its events: the emitter's channel, and subscribers within the process. */
export class EventSink {
  readonly #store: string;
  readonly #diagnostics: Channel = channel(DIAGNOSTICS_CHANNEL);
  #channel: EventChannel | undefined;

  constructor(store: string) {
    this.#store = store;
  }

  open(channelToUse: EventChannel): void {
    this.#channel = channelToUse;
  }

  /** Never throws, whatever an emitter of somebody else's does. */
  emit(event: PendingEvent): void {
    try {
      if (this.#diagnostics.hasSubscribers) this.#emitBoth(event);
      else this.#channel?.emit(event);
    } catch {
      // A channel must not throw; should it, then the lock goes on all the same.
    }
  }

  holdsChanged(): void {
    try {
      this.#channel?.holdsChanged();
    } catch {
      // As above.
    }
  }

  async close(timeoutMs: number): Promise<void> {
    try {
      await this.#channel?.close(timeoutMs);
    } catch {
      // As above.
    }
  }

  /** Encoded for each: an event that names no server means the one that is current when it is encoded. */
  #emitBoth(pending: PendingEvent): void {
    const event = pending.encode();
    this.#channel?.emit(pending);
    this.#diagnostics.publish({ store: this.#store, event: withoutKey(event) } satisfies DiagnosticsMessage);
  }
}

function withoutKey(event: LockEvent): LockEvent {
  if (!('keyBase64' in event)) return event;
  const { keyBase64: _, ...rest } = event;
  return rest;
}
