/** Places for work that goes on at the same time. */
export class Slots {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Does the work in a free place, which is given back however it ends; undefined when none is free. */
  run<T>(work: () => Promise<T>): Promise<T> | undefined {
    if (this.#used >= this.#limit) return undefined;
    this.#used += 1;
    return work().finally(() => {
      this.#used -= 1;
    });
  }
}
