/** Reads TIME's reply, in µs since the epoch; `null` for anything else. */
export function readTimeUs(reply: unknown): number | null {
  if (!Array.isArray(reply)) return null;
  const us = Number(reply[0]) * 1_000_000 + Number(reply[1]);
  return Number.isSafeInteger(us) ? us : null;
}

/**
 * What lies between two readings of the server's clock, in µs. A clock that was set meanwhile, or could not be
 * read, gives nonsense: the round trip is then the upper bound.
 */
export function costBetween(beforeUs: number | null, afterUs: number | null, roundTripUs: number): number {
  if (beforeUs === null || afterUs === null) return roundTripUs;
  const costUs = afterUs - beforeUs;
  return costUs < 0 || costUs > roundTripUs ? roundTripUs : costUs;
}

/**
 * What a script took by the server's clock, in µs. A clock that was set meanwhile gives nonsense, and one that stands
 * still while a script runs gives 0: the round trip is then the upper bound.
 */
export function costOfScript(tookUs: number, roundTripUs: number): number {
  return tookUs <= 0 || tookUs > roundTripUs ? roundTripUs : tookUs;
}
