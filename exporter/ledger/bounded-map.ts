/**
 * A map that forgets its oldest entry when it is full, and counts what it forgot. Setting a key again makes it
 * the youngest; reading does not.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;
  #evicted = 0;

  /** @param limit most entries, at least 1 */
  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many entries were forgotten for want of room, since the start. */
  get evicted(): number {
    return this.#evicted;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#limit) this.#evictOldest();
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  #evictOldest(): void {
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      this.#evicted += 1;
      return;
    }
  }
}
