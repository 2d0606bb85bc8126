/** Longest step that counts in full. Ticks come every second: a longer step means that this process stood still. */
const MAX_STEP_MS = 2500;

/**
 * Monotonic time of this process without its own pauses. Silence is measured by it: after a pause of the exporter itself the
 * batches that came meanwhile are still unread, and every client would look silent.
 */
export class AwakeTime {
  #lastMonoMs: number | undefined;
  #awakeMs = 0;

  /** Takes in what the clock shows now. Times before the last one are taken as the last one. */
  advance(monoMs: number): number {
    if (this.#lastMonoMs !== undefined) {
      this.#awakeMs += Math.min(Math.max(0, monoMs - this.#lastMonoMs), MAX_STEP_MS);
    }
    this.#lastMonoMs = Math.max(monoMs, this.#lastMonoMs ?? monoMs);
    return this.#awakeMs;
  }
}
