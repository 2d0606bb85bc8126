import type { DropReason } from '../../contract/outcomes.js';

/**
 * What became of the events of one channel since it was opened. At every moment
 * `emitted = accepted + rejected + sum(dropped) + queued`.
 */
export interface ChannelStats {
  /** Calls of `emit`. */
  readonly emitted: number;
  /** Taken by the exporter. */
  readonly accepted: number;
  /** Delivered, but found invalid by the exporter, one by one. */
  readonly rejected: number;
  /** Never delivered, by reason. Reasons without drops are left out. */
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
  /** Not settled yet; the batch in flight is included. */
  readonly queued: number;
}

/** Counts what became of events. Counts only grow. */
export class EventTally {
  emitted = 0;
  accepted = 0;
  rejected = 0;
  #dropped: Partial<Record<DropReason, number>> = {};
  #dropTotal = 0;

  /** Events dropped, whatever the reason. */
  get dropTotal(): number {
    return this.#dropTotal;
  }

  drop(reason: DropReason, count = 1): void {
    if (count === 0) return;
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + count;
    this.#dropTotal += count;
  }

  /** Drops by reason, cumulative: the envelope's `dropped`. */
  dropped(): Partial<Record<DropReason, number>> {
    return { ...this.#dropped };
  }

  stats(queued: number): ChannelStats {
    const { emitted, accepted, rejected } = this;
    return { emitted, accepted, rejected, dropped: this.dropped(), queued };
  }
}
