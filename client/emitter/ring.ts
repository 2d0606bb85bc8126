const FIRST_CAPACITY = 16;

/** A first-in, first-out list that grows by doubling and never moves an element otherwise. Bounded by its user. */
export class Ring<T> {
  #slots: (T | undefined)[] = new Array(FIRST_CAPACITY);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: T): void {
    if (this.#length === this.#slots.length) this.#grow();
    this.#slots[this.#slot(this.#length)] = value;
    this.#length += 1;
  }

  /** The oldest element, left in place. */
  peek(): T | undefined {
    return this.#slots[this.#head];
  }

  /** The oldest element, taken out. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const value = this.#slots[this.#head];
    // The slot must not keep alive what it held.
    this.#slots[this.#head] = undefined;
    this.#head = this.#slot(1);
    this.#length -= 1;
    return value;
  }

  /** Forgets everything, and gives the memory back. */
  clear(): void {
    this.#slots = new Array(FIRST_CAPACITY);
    this.#head = 0;
    this.#length = 0;
  }

  /** Capacities are powers of two, so that a mask does for a remainder. */
  #slot(offset: number): number {
    return (this.#head + offset) & (this.#slots.length - 1);
  }

  #grow(): void {
    const grown: (T | undefined)[] = new Array(this.#slots.length * 2);
    for (let at = 0; at < this.#length; at += 1) grown[at] = this.#slots[this.#slot(at)];
    this.#slots = grown;
    this.#head = 0;
  }
}
