import type { Random } from '../../contract/clock.js';

/** How the pauses between attempts grow. */
export interface BackoffCurve {
  /** No pause is shorter. */
  readonly floorMs: number;
  /** Upper end of the first pause; it doubles with each attempt. */
  readonly baseMs: number;
  /** The upper end does not grow beyond. */
  readonly capMs: number;
}

/** For what heals by itself: a restart, overload, a lost packet. The floor keeps even an unlucky draw from spinning. */
export const TRANSIENT_BACKOFF: BackoffCurve = { floorMs: 20, baseMs: 200, capMs: 10_000 };
/** For what a person has to mend (a wrong token, a wrong address): slow enough to bother nobody, and it heals unattended. */
export const CONFIGURATION_BACKOFF: BackoffCurve = { floorMs: 5000, baseMs: 10_000, capMs: 60_000 };

/** A server's wish to be left alone is followed up to here. */
export const MAX_RETRY_AFTER_MS = 60_000;

/**
 * The pause after failure number `failures` (from 1): drawn evenly below the upper end ("full jitter"), so that
 * clients that failed together do not come back together. A Retry-After comes on top.
 */
export function backoffMs(failures: number, curve: BackoffCurve, random: Random, retryAfterMs = 0): number {
  const upperMs = Math.min(curve.capMs, curve.baseMs * 2 ** (failures - 1));
  return Math.min(MAX_RETRY_AFTER_MS, retryAfterMs) + Math.max(curve.floorMs, random() * upperMs);
}
