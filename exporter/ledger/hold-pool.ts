import { Hold, NUMBERS_PER_HOLD } from './hold.js';
import type { Producer } from './producers.js';

const HOLDS_PER_BLOCK = 512;

/**
 * Makes holds, and keeps those that were forgotten to be used again: never more than there were at a time. As garbage they
 * would have outlived two scavenges: half a kilobyte for each lock that was taken, copied twice.
 */
export class HoldPool {
  #spare: Hold | undefined = undefined;
  #block = new Float64Array(0);
  #usedOfBlock = 0;

  /** A hold to begin. */
  take(producer: Producer): Hold {
    const hold = this.#spare;
    if (hold === undefined) return this.#make(producer);
    this.#spare = hold.next;
    hold.next = undefined;
    return hold;
  }

  /** Takes a forgotten hold back, unless an overlap is still to be measured or a suspicion to be judged. */
  giveBack(hold: Hold): void {
    if (hold.place !== 'forgotten' || hold.open !== undefined || hold.suspicion !== undefined) return;
    hold.place = 'spare';
    hold.next = this.#spare;
    this.#spare = hold;
  }

  #make(producer: Producer): Hold {
    if (this.#usedOfBlock === this.#block.length) {
      this.#block = new Float64Array(HOLDS_PER_BLOCK * NUMBERS_PER_HOLD);
      this.#usedOfBlock = 0;
    }
    this.#usedOfBlock += NUMBERS_PER_HOLD;
    return new Hold(this.#block, this.#usedOfBlock - NUMBERS_PER_HOLD, producer);
  }
}
