import type { Hold } from './hold.js';

/**
 * What the holds of one lock have in common, from the second hold on. It knows the latest time that any of them
 * tells, so that a hold that was granted after all of that need not be held against each of them: on a hot lock that
 * is nearly every hold, and comparing it with a dozen others took 0.6 µs for an event.
 */
export class LockHistory {
  oldest: Hold;
  count = 1;
  /** The hold that began after all the others, by one server's clock: nothing that is known of them touches it. */
  #front: Hold | undefined = undefined;
  /** The server of the last grant, and the latest grant or work by its clock. */
  #serverId: string | undefined = undefined;
  #latestUs = Number.NEGATIVE_INFINITY;
  #highestFence = Number.NEGATIVE_INFINITY;

  /** @param first the only hold of the lock so far */
  constructor(first: Hold) {
    this.oldest = first;
    this.#changeServer(first.serverId);
  }

  /** Whether this hold can neither overlap nor have too low a fence: no report says more of the others. */
  isFront(hold: Hold): boolean {
    return hold.row === this.#front?.row;
  }

  /** Takes in a grant that has just become known. */
  granted(hold: Hold): void {
    const { grantUs = Number.NEGATIVE_INFINITY, fence } = hold;
    if (hold.serverId !== this.#serverId) this.#changeServer(hold.serverId, hold);
    const isLater = grantUs >= this.#latestUs && (fence === undefined || fence > this.#highestFence);
    this.#front = isLater ? hold : undefined;
    this.#latestUs = Math.max(this.#latestUs, grantUs);
    this.fenced(fence);
  }

  /** A hold does not stand in the list any more. */
  left(hold: Hold): void {
    this.count -= 1;
    if (hold.row === this.#front?.row) this.#front = undefined;
  }

  /** Takes in a fence. */
  fenced(fence: number | undefined): void {
    if (fence !== undefined && fence > this.#highestFence) this.#highestFence = fence;
  }

  /**
   * Takes in until when the work of a hold went on. A hold that is not the front is now held against all others, the
   * front included. Times of another server's clock say nothing here: then there is no front.
   */
  worked({ workedUntilUs = Number.NEGATIVE_INFINITY, workedServer }: Hold): void {
    if (workedServer !== this.#serverId) this.#front = undefined;
    else if (workedUntilUs > this.#latestUs) this.#latestUs = workedUntilUs;
  }

  /** Another server's clock counts from now on. What is known by it is gathered from all holds but `without`. */
  #changeServer(serverId: string | undefined, without?: Hold): void {
    this.#serverId = serverId;
    this.#front = undefined;
    this.#latestUs = Number.NEGATIVE_INFINITY;
    for (let hold: Hold | undefined = this.oldest; hold; hold = hold.younger) {
      if (hold.row === without?.row) continue;
      const { grantUs = Number.NEGATIVE_INFINITY, workedUntilUs = Number.NEGATIVE_INFINITY } = hold;
      if (hold.serverId === serverId) this.#latestUs = Math.max(this.#latestUs, grantUs);
      if (hold.workedServer === serverId) this.#latestUs = Math.max(this.#latestUs, workedUntilUs);
      this.fenced(hold.fence);
    }
  }
}
