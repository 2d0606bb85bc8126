import type { Clock } from '../contract/clock.js';

/** A heap with more than this in use grows slowly. With a few thousand locks it is 30 MB, and 80 before a collection. */
const LARGE_BYTES = 100_000_000;
/** And it does so until less than this is in use: a heap that is only just large is smaller after each collection. */
const SMALL_BYTES = 60_000_000;
/** By how much a large heap may grow before it is collected, in percent of what is in use after a collection. */
const LARGE_GROWTH_PERCENT = 30;
const LOOK_EVERY_MS = 2000;

/** What the watch needs of the engine. */
export interface HeapEngine {
  /** Bytes in use, garbage included. */
  usedBytes(): number;
  /** Sets a flag of V8. */
  setFlag(flag: string): void;
}

/** The growth for a heap in percent; 0 leaves it to V8. @param before what it was so far */
export function growthPercent(usedBytes: number, before: number): number {
  if (usedBytes > LARGE_BYTES) return LARGE_GROWTH_PERCENT;
  return usedBytes < SMALL_BYTES ? 0 : before;
}

/**
 * Keeps a large heap from growing to several times what it holds, as V8 lets it: 100,000 locks held and sampled took 700 MB,
 * most of it garbage. A small heap is left alone, as there the more frequent collections cost ingest a tenth of its rate.
 * Lasts as long as the process.
 */
export function watchHeapGrowth(clock: Clock, engine: HeapEngine): void {
  let set = 0;
  const look = () => {
    const percent = growthPercent(engine.usedBytes(), set);
    if (percent !== set) engine.setFlag(`--heap-growing-percent=${percent}`);
    set = percent;
    clock.setTimer(look, LOOK_EVERY_MS);
  };
  look();
}
