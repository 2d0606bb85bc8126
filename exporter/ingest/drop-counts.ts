import { DROP_REASONS } from '../../contract/outcomes.js';
import type { ProducerDropReason } from '../metrics/ingest-counters.js';

/** The growth of one reason's count. */
export type DropIncrement = readonly [reason: ProducerDropReason, events: number];

/**
 * Turns the cumulative counts of one producer into increments. Counts may come out of order: a value below one
 * that was seen adds nothing.
 */
export class DropCounts {
  readonly #seen = new Map<ProducerDropReason, number>();

  /** @returns what to add, each amount above 0 */
  advance(dropped: Readonly<Record<string, number>>): DropIncrement[] {
    const increments: DropIncrement[] = [];
    for (const [reason, total] of sumByReason(dropped)) {
      const before = this.#seen.get(reason) ?? 0;
      if (total <= before) continue;
      this.#seen.set(reason, total);
      increments.push([reason, total - before]);
    }
    return increments;
  }
}

function sumByReason(dropped: Readonly<Record<string, number>>): Map<ProducerDropReason, number> {
  const sums = new Map<ProducerDropReason, number>();
  for (const [name, total] of Object.entries(dropped)) {
    const reason = DROP_REASONS.find((known) => known === name) ?? 'other';
    sums.set(reason, (sums.get(reason) ?? 0) + total);
  }
  return sums;
}
