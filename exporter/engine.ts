import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { YoungEngine } from './young-generation.js';

/** The engine of this process. */
export function youngEngine(): YoungEngine {
  return { roomBytes, setFlag: setFlagsFromString };
}

/** Infinite where there is no such space, so that nobody tries to enlarge it. */
function roomBytes(): number {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  return young?.space_size ?? Number.POSITIVE_INFINITY;
}
