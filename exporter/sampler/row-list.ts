import { RowNumbers } from './row-numbers.js';

/** Row numbers in a row, whose room is used again. */
export class RowList implements Iterable<number> {
  readonly #rows = new RowNumbers();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  push(row: number): void {
    this.#rows.set(this.#length, 0, row);
    this.#length += 1;
  }

  at(index: number): number {
    return this.#rows.get(index);
  }

  *[Symbol.iterator](): IterableIterator<number> {
    for (let index = 0; index < this.#length; index += 1) yield this.at(index);
  }
}
