import { RowNumbers } from './row-numbers.js';

/** Places of a row's links; each is a row's number and 1, 0 where there is none. */
const BEFORE = 0;
const BEHIND = 1;
const LINKS = 2;
const NONE = -1;

/** Row numbers in the order in which they came; one leaves from any place at no cost. */
export class RowQueue implements Iterable<number> {
  readonly #links = new RowNumbers(LINKS);
  #first = NONE;
  #last = NONE;

  /** The one that came first; -1 when there is none. */
  get first(): number {
    return this.#first;
  }

  /** A row that is not there yet. */
  append(row: number): void {
    this.#join(this.#last, row);
    this.#join(row, NONE);
  }

  /** A row that is there. */
  remove(row: number): void {
    this.#join(this.#beside(row, BEFORE), this.#beside(row, BEHIND));
  }

  /** The row that is walked over may leave meanwhile. */
  *[Symbol.iterator](): IterableIterator<number> {
    let row = this.#first;
    while (row !== NONE) {
      const behind = this.#beside(row, BEHIND);
      yield row;
      row = behind;
    }
  }

  #join(before: number, behind: number): void {
    if (before === NONE) this.#first = behind;
    else this.#links.set(before, BEHIND, behind + 1);
    if (behind === NONE) this.#last = before;
    else this.#links.set(behind, BEFORE, before + 1);
  }

  #beside(row: number, side: number): number {
    return this.#links.get(row, side) - 1;
  }
}
