/** What an answer that found the lock not owned tells, and what the hold knows of itself. */
export interface LaterGrantFacts {
  readonly fence: number | undefined;
  readonly latestFence: number | undefined;
  readonly latestGrantUs: number | undefined;
  /** Redis's clock when the work settled, as a lower bound, of the server that answered. Undefined: not settled, or not known. */
  readonly settledUs: number | undefined;
}

/**
 * Whether another was granted the lock before this hold's work settled, when the answer came *after* it settled:
 * the later grant must come before the end of the work, both by one server's clock. Client and exporter judge by
 * this one rule. With both times missing, for an emitter that reports neither, the fences alone decide; one alone
 * proves nothing.
 */
export function wasGrantedBeforeEnd(facts: LaterGrantFacts): boolean {
  const { fence, latestFence, latestGrantUs, settledUs } = facts;
  if (fence === undefined || latestFence === undefined || latestFence <= fence) return false;
  if (latestGrantUs === undefined && settledUs === undefined) return true;
  if (latestGrantUs === undefined || settledUs === undefined) return false;
  return latestGrantUs < settledUs;
}
