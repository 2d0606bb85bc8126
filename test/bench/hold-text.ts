import { digest, holdEvents } from './load.js';

const FIRST_OWNER = digest('b', 0);
/** What differs from hold to hold: the owner, and each number of Redis's clock. */
const VARIABLE = new RegExp(`(${FIRST_OWNER}|\\b1796\\d{12}\\b)`);
/** Between two holds by Redis's clock, in µs. */
const STEP_US = 50;

/**
 * The two events of a hold of one lock as JSON, for any number of holds. Put together from pieces, since a poster that
 * encodes objects is slower than what it is to keep busy.
 */
export class HoldText {
  readonly #pieces: readonly string[];

  constructor(lock: number, resources: number) {
    const text = holdEvents(0, lock, resources).map((event) => JSON.stringify(event));
    this.#pieces = text.join(',').split(VARIABLE);
  }

  /** @param hold a number of its own for each */
  write(hold: number): string {
    let text = '';
    // Every other piece is one that differs.
    for (const [index, piece] of this.#pieces.entries()) {
      if (index % 2 === 0) text += piece;
      else text += piece === FIRST_OWNER ? digest('b', hold) : Number(piece) + hold * STEP_US;
    }
    return text;
  }
}
