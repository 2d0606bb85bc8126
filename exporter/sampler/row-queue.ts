const BEFORE = 0;
const BEHIND = 1;
const LINKS = 2;
const FIRST_ROWS = 64;
/** A queue that is full gets so much more room than it needs. */
const GROWTH = 1.25;
const NONE = -1;

/** Row numbers in the order in which they came; one leaves from any place at no cost. */
export class RowQueue implements Iterable<number> {
  #links = new Int32Array(FIRST_ROWS * LINKS);
  #first = NONE;
  #last = NONE;

  /** The one that came first; -1 when there is none. */
  get first(): number {
    return this.#first;
  }

  /** A row that is not there yet. */
  append(row: number): void {
    if ((row + 1) * LINKS > this.#links.length) this.#addRows(row + 1);
    this.#link(this.#last, row);
    this.#link(row, NONE);
  }

  /** A row that is there. */
  remove(row: number): void {
    this.#link(this.#of(row, BEFORE), this.#of(row, BEHIND));
  }

  /** The row that is walked over may leave meanwhile. */
  *[Symbol.iterator](): IterableIterator<number> {
    let row = this.#first;
    while (row !== NONE) {
      const behind = this.#of(row, BEHIND);
      yield row;
      row = behind;
    }
  }

  #link(before: number, behind: number): void {
    if (before === NONE) this.#first = behind;
    else this.#links[before * LINKS + BEHIND] = behind;
    if (behind === NONE) this.#last = before;
    else this.#links[behind * LINKS + BEFORE] = before;
  }

  #of(row: number, side: number): number {
    return this.#links[row * LINKS + side] ?? NONE;
  }

  #addRows(rows: number): void {
    const links = new Int32Array(Math.ceil(rows * GROWTH) * LINKS);
    links.set(this.#links);
    this.#links = links;
  }
}
