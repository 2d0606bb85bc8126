/** The time of a world, in ms from its beginning, and what is to happen in it. */
export class Agenda {
  readonly #items: { atMs: number; order: number; run: () => void }[] = [];
  #order = 0;
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** What is due at the same time happens in the order in which it was planned. */
  in(ms: number, run: () => void): void {
    this.#order += 1;
    this.#items.push({ atMs: this.#nowMs + Math.max(0, ms), order: this.#order, run });
  }

  every(ms: number, run: () => void): void {
    this.in(ms, () => {
      run();
      this.every(ms, run);
    });
  }

  /** Lets time pass, and what is due happen. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#items.splice(this.#items.indexOf(next), 1);
      this.#nowMs = next.atMs;
      next.run();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number) {
    let first = this.#items[0];
    for (const item of this.#items) {
      if (first && (item.atMs < first.atMs || (item.atMs === first.atMs && item.order < first.order)))
        first = item;
    }
    return first && first.atMs <= untilMs ? first : undefined;
  }
}
