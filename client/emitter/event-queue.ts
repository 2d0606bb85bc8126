import type { PendingEvent } from './emitter.js';
import { Ring } from './ring.js';

/** Default bound of a queue: a minute of outage at 80 locks a second, at some 200 bytes an event. */
export const DEFAULT_QUEUE_LIMIT = 10_000;

interface Entry {
  readonly order: number;
  readonly event: PendingEvent;
}

/**
 * Events waiting for a batch, in the order they were emitted. When it is full, the oldest event that is not
 * urgent makes room: a lost lock must not be crowded out by ordinary traffic. Every operation takes constant time.
 */
export class EventQueue {
  readonly #limit: number;
  // Two rings, so that the oldest event of either kind is at hand; the order number merges them again.
  readonly #urgent = new Ring<Entry>();
  readonly #ordinary = new Ring<Entry>();
  #order = 0;

  /** @param limit most events kept, at least 1 */
  constructor(limit: number = DEFAULT_QUEUE_LIMIT) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#urgent.length + this.#ordinary.length;
  }

  /** Adds an event. @returns false when that cost one event: the oldest ordinary one, this one, or the oldest of all */
  push(event: PendingEvent): boolean {
    const full = this.length >= this.#limit;
    if (full && !this.#makeRoom(event.urgent)) return false;
    this.#order += 1;
    const ring = event.urgent ? this.#urgent : this.#ordinary;
    ring.push({ order: this.#order, event });
    return !full;
  }

  /** Takes out the oldest event. */
  shift(): PendingEvent | undefined {
    const urgent = this.#urgent.peek();
    const ordinary = this.#ordinary.peek();
    if (urgent === undefined) return this.#ordinary.shift()?.event;
    if (ordinary === undefined || urgent.order < ordinary.order) return this.#urgent.shift()?.event;
    return this.#ordinary.shift()?.event;
  }

  /** Drops all. @returns how many they were */
  clear(): number {
    const count = this.length;
    this.#urgent.clear();
    this.#ordinary.clear();
    return count;
  }

  /** @returns false when there is no room for an ordinary event because all others are urgent */
  #makeRoom(forUrgent: boolean): boolean {
    if (this.#ordinary.shift() !== undefined) return true;
    if (forUrgent) this.#urgent.shift();
    return forUrgent;
  }
}
