import type { LockEvent } from '../../contract/event.js';
import { BoundedMap } from './bounded-map.js';
import type { Finding, LedgerContext, Overlap } from './finding.js';
import { type NotOwnedEvent, provesOverlap, readNotOwned } from './not-owned.js';

/** What bounds a ledger. */
export interface LedgerOptions {
  /** Most holds remembered, and most holds remembered as reported; at least 1. The oldest is forgotten first. */
  readonly maxHolds: number;
}

/** How full a ledger is. */
export interface LedgerSize {
  /** Holds whose fence is remembered. */
  readonly holds: number;
  /** Holds whose overlap was reported. */
  readonly reported: number;
  /** Entries of both that were forgotten for want of room, since the start. */
  readonly evicted: number;
}

/** Who believes to hold what, and what follows from it. Pure: no clock, no I/O; the same events, the same findings. */
export interface Ledger {
  /**
   * Takes one event, in the order of arrival, and returns what it proves: an overlap once per hold. Never throws.
   * A hold whose report was forgotten for want of room may be reported again.
   */
  observe(event: LockEvent, context: LedgerContext): readonly Finding[];
  size(): LedgerSize;
}

/** Makes an empty ledger. */
export function createLedger(options: LedgerOptions): Ledger {
  return new EventLedger(options.maxHolds);
}

const NOTHING: readonly Finding[] = Object.freeze([]);

class EventLedger implements Ledger {
  /** The fence of each hold that began and has not ended, for emitters that do not repeat it. */
  readonly #fences: BoundedMap<string, number>;
  readonly #reported: BoundedMap<string, true>;

  constructor(maxHolds: number) {
    this.#fences = new BoundedMap(maxHolds);
    this.#reported = new BoundedMap(maxHolds);
  }

  observe(event: LockEvent, context: LedgerContext): readonly Finding[] {
    if (event.kind === 'acquire') this.#begin(event);
    const notOwned = readNotOwned(event);
    const overlap = notOwned && this.#judge(notOwned, context);
    if (event.kind === 'release') this.#fences.delete(holdKey(event.lock, event.owner));
    return overlap ? [overlap] : NOTHING;
  }

  size(): LedgerSize {
    const evicted = this.#fences.evicted + this.#reported.evicted;
    return { holds: this.#fences.size, reported: this.#reported.size, evicted };
  }

  #begin(event: LockEvent & { kind: 'acquire' }): void {
    if (event.outcome !== 'acquired' || event.fence === undefined) return;
    this.#fences.set(holdKey(event.lock, event.owner), event.fence);
  }

  #judge(event: NotOwnedEvent, context: LedgerContext): Overlap | undefined {
    if (event.latestFence === undefined) return undefined;
    const key = holdKey(event.lock, event.owner);
    const fence = event.fence ?? this.#fences.get(key);
    if (fence === undefined || !provesOverlap(event, fence)) return undefined;
    if (this.#reported.has(key)) return undefined;
    this.#reported.set(key, true);
    return describeOverlap(event, fence, event.latestFence, context);
  }
}

/** A token is never shared and never reused, so lock and owner name one hold. Both have a fixed length. */
function holdKey(lock: string, owner: string): string {
  return lock + owner;
}

function describeOverlap(
  event: NotOwnedEvent,
  fence: number,
  latestFence: number,
  context: LedgerContext,
): Overlap {
  return {
    kind: 'overlap',
    store: context.store,
    resource: event.resource,
    lock: event.lock,
    owner: event.owner,
    fence,
    latestFence,
    latestGrantUs: event.latestGrantUs,
    settledUs: event.kind === 'release' ? event.settledUs : undefined,
    serverId: event.serverId ?? context.serverId,
    provenBy: event.kind,
    atMs: event.atMs,
  };
}
