import type { SuspectWindow } from './finding.js';

/**
 * `live`: its client believes to hold. `lost`: the work goes on, but client or sample know that the lock is gone. `silent`: its
 * client is silent beyond the lease. `unknown`: the acquire's outcome is not known. `ended`: the work settled, or nobody
 * reports it any more.
 */
export type HoldState = 'live' | 'lost' | 'silent' | 'unknown' | 'ended';

/** What a look on the master found in the place of a hold. */
export interface Suspicion {
  /** Awake time at which the look was told. */
  readonly sinceMs: number;
  readonly seenUs: number;
  readonly serverId: string;
  readonly found: string | undefined;
  /**
   * One batch that was surely built later still reported the hold. A client that stood still may send it before it reads the
   * answer to its release, which had long come: the next batch is built after that.
   */
  isStillHeld: boolean;
}

/** An overlap that was told and whose length is not. */
export interface OpenOverlap {
  /** The suspect window as it was told last. */
  window: SuspectWindow;
  /** Awake times at which it was told, and at which the holder's end became known. */
  readonly toldMs: number;
  endedMs: number | undefined;
}

/** What a hold is known by from its first report on. */
export interface HoldFacts {
  readonly lock: string;
  readonly owner: string;
  readonly resource: string;
}

/** What may be true of a hold, and then stays so. */
export const HOLD_MARKS = {
  /** The work has settled. */
  settled: 1,
  /** `workedUntilUs` is the end of the work, to one round trip, and not just a lower bound. */
  endKnown: 2,
  /** Its owner said that it gives the lock back, or said goodbye. */
  givenUp: 4,
  /** What was told about it already. */
  toldOverlap: 8,
  toldLoss: 16,
  toldAbandoned: 32,
  toldTakenOver: 64,
  toldRegression: 128,
  /** A watchdog is to renew its lease. */
  watchdog: 256,
  /** Its client stopped renewing: it had the lock for as long as it may. */
  reachedMaxHold: 512,
} as const;
export type HoldMark = keyof typeof HOLD_MARKS;
