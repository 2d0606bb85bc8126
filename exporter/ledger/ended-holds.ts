import type { Hold } from './hold.js';

/** The holds that have ended, the one that ended first at the front. Linked through the holds themselves. */
export class EndedHolds {
  #first: Hold | undefined = undefined;
  #last: Hold | undefined = undefined;
  #size = 0;

  get first(): Hold | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a hold that stands in no list. */
  add(hold: Hold): void {
    hold.previous = this.#last;
    if (this.#last) this.#last.next = hold;
    else this.#first = hold;
    this.#last = hold;
    this.#size += 1;
  }

  remove(hold: Hold): void {
    const { next, previous } = hold;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    hold.next = undefined;
    hold.previous = undefined;
    this.#size -= 1;
  }
}
