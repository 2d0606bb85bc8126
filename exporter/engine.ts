import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '../contract/clock.js';
import type { HeapEngine } from './heap-growth.js';
import type { YoungEngine } from './young-generation.js';

/** The engine of this process. */
export function youngEngine(): YoungEngine {
  return { roomBytes, setFlag: setFlagsFromString };
}

/** The same as the watch over its heap needs it. */
export function heapEngine(clock: Clock): HeapEngine {
  let before = { cpuMs: cpuMs(), monoMs: clock.monoMs() };
  return {
    usedBytes: () => process.memoryUsage().heapUsed,
    busyShare: () => {
      const now = { cpuMs: cpuMs(), monoMs: clock.monoMs() };
      const share = (now.cpuMs - before.cpuMs) / Math.max(1, now.monoMs - before.monoMs);
      before = now;
      return share;
    },
    setFlag: setFlagsFromString,
  };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Infinite where there is no such space, so that nobody tries to enlarge it. */
function roomBytes(): number {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  return young?.space_size ?? Number.POSITIVE_INFINITY;
}
