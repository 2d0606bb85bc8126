import type { Clock, Timer } from '../contract/clock.js';

/** Something that happens at a time of the monotonic clock. It is its own entry, so that queueing allocates nothing. */
export interface DeadlineItem {
  /** When, on the clock of the queue. Not to be changed while queued. */
  dueMs: number;
  /** Place in the queue, kept by the queue; `NOT_QUEUED` to begin with. */
  queueIndex: number;
  /** Called once, not before `dueMs`. What it throws is dropped: it must not throw. */
  onDue(nowMs: number): void;
}

/** Value of {@link DeadlineItem.queueIndex} outside a queue. */
export const NOT_QUEUED = -1;

/**
 * All deadlines of one lock client on one timer: lease ends, command limits, back-offs and renewals. A binary
 * heap, O(log n) for each change. The timer is left alone when an item goes: it may wake once for nothing, which
 * is cheaper than re-arming it for every lock.
 */
export class DeadlineQueue {
  readonly #clock: Clock;
  readonly #heap: DeadlineItem[] = [];
  #timer: Timer | undefined;
  #armedForMs = Number.POSITIVE_INFINITY;
  #isRetired = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Queues an item for `dueMs`; one that is queued already is moved. */
  set(item: DeadlineItem, dueMs: number): void {
    if (item.queueIndex !== NOT_QUEUED) this.cancel(item);
    item.dueMs = dueMs;
    this.#heap.push(item);
    this.#siftUp(item, this.#heap.length - 1);
    if (dueMs < this.#armedForMs) this.#arm(dueMs);
  }

  /** Takes an item out. Safe for an item that is not queued. */
  cancel(item: DeadlineItem): void {
    const index = item.queueIndex;
    if (index === NOT_QUEUED) return;
    item.queueIndex = NOT_QUEUED;
    const last = this.#heap.pop();
    if (last !== undefined && last !== item) {
      this.#siftUp(last, index);
      this.#siftDown(last, last.queueIndex);
    }
    this.#disarmIfDone();
  }

  /** For the end: what is queued still comes due, and the timer goes with the last of it. */
  retire(): void {
    this.#isRetired = true;
    this.#disarmIfDone();
  }

  #disarmIfDone(): void {
    if (this.#isRetired && this.#heap.length === 0) this.#disarm();
  }

  #arm(dueMs: number): void {
    this.#timer?.cancel();
    this.#armedForMs = dueMs;
    this.#timer = this.#clock.setTimer(() => this.#wake(), dueMs - this.#clock.monoMs());
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armedForMs = Number.POSITIVE_INFINITY;
  }

  #wake(): void {
    this.#disarm();
    const nowMs = this.#clock.monoMs();
    for (let item = this.#heap[0]; item !== undefined && item.dueMs <= nowMs; item = this.#heap[0]) {
      this.cancel(item);
      callSafely(item, nowMs);
    }
    const next = this.#heap[0];
    if (next !== undefined && next.dueMs < this.#armedForMs) this.#arm(next.dueMs);
  }

  #siftUp(item: DeadlineItem, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || parent.dueMs <= item.dueMs) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(item, index);
  }

  #siftDown(item: DeadlineItem, from: number): void {
    let index = from;
    for (;;) {
      const childIndex = this.#earlierChild(index);
      const child = this.#heap[childIndex];
      if (child === undefined || child.dueMs >= item.dueMs) break;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(item, index);
  }

  #earlierChild(index: number): number {
    const left = 2 * index + 1;
    const leftChild = this.#heap[left];
    const rightChild = this.#heap[left + 1];
    return leftChild && rightChild && rightChild.dueMs < leftChild.dueMs ? left + 1 : left;
  }

  #place(item: DeadlineItem, index: number): void {
    this.#heap[index] = item;
    item.queueIndex = index;
  }
}

/** A callback of a timer must never end the process. */
function callSafely(item: DeadlineItem, nowMs: number): void {
  try {
    item.onDue(nowMs);
  } catch {
    // Nothing of ours throws here; what a listener of an AbortSignal throws is reported by Node itself.
  }
}
