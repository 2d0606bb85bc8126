/** No step may hold the server longer, at the 99th percentile. */
const LIMIT_US = 1000;
/** Aimed at on average, so that the spread of one step's cost stays below the limit. */
const TARGET_US = 500;
const MIN_COUNT = 10;
const MAX_COUNT = 4000;
const START_COUNT = 50;
/** A step grows the next one by at most this: what is cheap here may be dear further on. */
const MAX_GROWTH = 1.5;

/** How much the next step may look at, learned from what the last ones cost the server. */
export class StepSize {
  #count = START_COUNT;

  /** SCAN's COUNT for the next step. */
  get count(): number {
    return Math.round(this.#count);
  }

  /** Learns from a step of the present size. A cost of 0 or below tells nothing and is not learned from. */
  learn(costUs: number): void {
    if (!(costUs > 0)) return;
    const factor = costUs > LIMIT_US ? TARGET_US / costUs : Math.min(MAX_GROWTH, TARGET_US / costUs);
    // Half of the way: one odd step, slowed down by something else, must not make all later ones tiny.
    const next = this.#count * (factor > 1 ? factor : (1 + factor) / 2);
    this.#count = Math.min(MAX_COUNT, Math.max(MIN_COUNT, next));
  }
}
