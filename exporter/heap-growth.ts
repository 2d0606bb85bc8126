import type { Clock } from '../contract/clock.js';

/** A heap with more than this in use grows slowly, however busy the process is. */
const LARGE_BYTES = 100_000_000;
/** And it does so until less than this is in use: a heap that is only just large is smaller after each collection. */
const SMALL_BYTES = 60_000_000;
/** A process that works for a smaller share of its time has time to collect, and its heap grows slowly too. */
const CALM_SHARE = 0.4;
/** One that works for a larger share has not: there the more frequent collections would cost a tenth of its rate. */
const BUSY_SHARE = 0.5;
/** Weight of the last look in that share: a burst of a few seconds, as after a start, makes no process busy. */
const LAST_LOOK_WEIGHT = 0.2;
/** By how much the heap may then grow before it is collected, in percent of what is in use after a collection. */
const SLOW_GROWTH_PERCENT = 30;
const LOOK_EVERY_MS = 2000;

/** What the watch needs of the engine. */
export interface HeapEngine {
  /** Bytes in use, garbage included. */
  usedBytes(): number;
  /** CPU time that the process took since the last call, as a share of the time that went by. */
  busyShare(): number;
  /** Sets a flag of V8. */
  setFlag(flag: string): void;
}

/** The growth in percent; 0 leaves it to V8. @param before what it was so far */
export function growthPercent(usedBytes: number, busyShare: number, before: number): number {
  if (usedBytes > LARGE_BYTES || busyShare < CALM_SHARE) return SLOW_GROWTH_PERCENT;
  return usedBytes < SMALL_BYTES && busyShare > BUSY_SHARE ? 0 : before;
}

/**
 * Keeps the heap from growing to several times what it holds, as V8 lets it, where that is garbage that nobody had to hurry
 * for: sweeps over 100,000 keys left 20 MB of it lying. Lasts as long as the process.
 */
export function watchHeapGrowth(clock: Clock, engine: HeapEngine): void {
  let set = 0;
  let busyShare = 0;
  const look = () => {
    busyShare += (Math.min(1, engine.busyShare()) - busyShare) * LAST_LOOK_WEIGHT;
    const percent = growthPercent(engine.usedBytes(), busyShare, set);
    if (percent !== set) engine.setFlag(`--heap-growing-percent=${percent}`);
    set = percent;
    clock.setTimer(look, LOOK_EVERY_MS);
  };
  look();
}
