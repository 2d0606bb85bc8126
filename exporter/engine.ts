import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { HeapEngine } from './heap-growth.js';
import type { YoungEngine } from './young-generation.js';

/** The engine of this process. */
export function youngEngine(): YoungEngine {
  return { roomBytes, setFlag: setFlagsFromString };
}

/** The same as the watch over its heap needs it. */
export function heapEngine(): HeapEngine {
  let before = performance.eventLoopUtilization();
  return {
    usedBytes: () => process.memoryUsage().heapUsed,
    busyShare: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    setFlag: setFlagsFromString,
  };
}

/** Infinite where there is no such space, so that nobody tries to enlarge it. */
function roomBytes(): number {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  return young?.space_size ?? Number.POSITIVE_INFINITY;
}
