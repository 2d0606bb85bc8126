/** One counted key. */
export interface Counted<V> {
  key: string;
  /** At least the true count, and at most `error` above it. */
  count: number;
  error: number;
  /** What is kept beside the count; emptied when the key takes another's place. */
  readonly value: V;
  /** Place in the heap. */
  at: number;
}

/**
 * The heaviest keys of a stream in bounded memory: the Space-Saving algorithm of Metwally, Agrawal and El Abbadi ("Efficient
 * computation of frequent and top-k elements in data streams", ICDT 2005). A new key takes the place of the smallest, with its
 * count as the error. So each error is at most `total / capacity`, and every key with more than that is in the table.
 *
 * The smallest is the root of a binary heap, so that weights above 1 are cheap too.
 */
export class SpaceSaving<V> {
  readonly #capacity: number;
  readonly #makeValue: () => V;
  readonly #emptyValue: (value: V) => void;
  readonly #byKey = new Map<string, Counted<V>>();
  readonly #heap: Counted<V>[] = [];
  #total = 0;

  /** @param capacity keys counted at a time, at least 1 */
  constructor(capacity: number, makeValue: () => V, emptyValue: (value: V) => void) {
    this.#capacity = Math.max(1, capacity);
    this.#makeValue = makeValue;
    this.#emptyValue = emptyValue;
  }

  /** Sum of all weights. */
  get total(): number {
    return this.#total;
  }

  /** No count is more than this above the true one. */
  get errorBound(): number {
    return this.#total / this.#capacity;
  }

  get(key: string): Counted<V> | undefined {
    return this.#byKey.get(key);
  }

  /** Adds to a key's count. @param weight above 0 */
  add(key: string, weight: number): Counted<V> {
    this.#total += weight;
    const known = this.#byKey.get(key);
    if (known) {
      known.count += weight;
      this.#sink(known);
      return known;
    }
    return this.#heap.length < this.#capacity ? this.#enter(key, weight) : this.#replace(key, weight);
  }

  /** The keys with the highest counts, the highest first. */
  top(limit: number): Counted<V>[] {
    return [...this.#heap].sort((a, b) => b.count - a.count).slice(0, limit);
  }

  #enter(key: string, weight: number): Counted<V> {
    const entry = { key, count: weight, error: 0, value: this.#makeValue(), at: this.#heap.length };
    this.#byKey.set(key, entry);
    this.#heap.push(entry);
    this.#rise(entry);
    return entry;
  }

  /** The entry is used again: with more locks than places that is nearly every acquire, and 200 bytes for each. */
  #replace(key: string, weight: number): Counted<V> {
    const smallest = this.#heap[0];
    if (!smallest) return this.#enter(key, weight);
    this.#byKey.delete(smallest.key);
    this.#byKey.set(key, smallest);
    smallest.key = key;
    smallest.error = smallest.count;
    smallest.count += weight;
    this.#emptyValue(smallest.value);
    this.#sink(smallest);
    return smallest;
  }

  #rise(entry: Counted<V>): void {
    while (entry.at > 0) {
      const parent = this.#heap[(entry.at - 1) >> 1];
      if (!parent || parent.count <= entry.count) return;
      this.#swap(entry, parent);
    }
  }

  #sink(entry: Counted<V>): void {
    for (;;) {
      const left = this.#heap[2 * entry.at + 1];
      const right = this.#heap[2 * entry.at + 2];
      const child = right && left && right.count < left.count ? right : left;
      if (!child || child.count >= entry.count) return;
      this.#swap(entry, child);
    }
  }

  #swap(a: Counted<V>, b: Counted<V>): void {
    const { at } = a;
    this.#heap[b.at] = a;
    this.#heap[at] = b;
    a.at = b.at;
    b.at = at;
  }
}
