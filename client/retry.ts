import type { Random } from '../contract/clock.js';

/** How the pauses between attempts grow. */
export interface RetryOptions {
  /** Upper end of the first pause, 1 to 60,000 ms. Default 20. */
  baseMs?: number;
  /** Upper end of every pause, `baseMs` to 60,000 ms. Default 500. */
  capMs?: number;
}

export const DEFAULT_RETRY_BASE_MS = 20;
export const DEFAULT_RETRY_CAP_MS = 500;

/** Beyond this exponent every pause is at its cap; it keeps 2 ** n finite. */
const MAX_EXPONENT = 30;

/**
 * The pause before the next attempt: uniform between 0 and min(cap, base × 2^(attempt - 1)) ("full jitter"), so
 * that waiters who failed together do not come back together.
 * @param attempt number of attempts made so far, from 1
 */
export function fullJitterMs(attempt: number, baseMs: number, capMs: number, random: Random): number {
  const exponent = Math.min(Math.max(attempt - 1, 0), MAX_EXPONENT);
  return random() * Math.min(capMs, baseMs * 2 ** exponent);
}
