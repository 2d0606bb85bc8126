import type { SampledResource } from './ports.js';
import type { Sighting } from './sighting.js';

/** The clocks at the end of a sweep. */
export interface SnapshotTime {
  readonly wallMs: number;
  readonly monoMs: number;
}

interface Totals {
  keys: number;
  withoutExpiry: number;
  earliestMonoMs: number;
  latestMonoMs: number;
  oldestMonoMs: number;
}

/** Adds up sightings by resource. Pure. */
export class SnapshotBuilder {
  readonly #totals = new Map<string, Totals>();

  add(sighting: Sighting): void {
    const totals = this.#totalsOf(sighting.resource);
    totals.keys += 1;
    totals.oldestMonoMs = Math.min(totals.oldestMonoMs, sighting.firstSeenMonoMs);
    const { expiresMonoMs } = sighting;
    if (expiresMonoMs === null) totals.withoutExpiry += 1;
    else {
      totals.earliestMonoMs = Math.min(totals.earliestMonoMs, expiresMonoMs);
      totals.latestMonoMs = Math.max(totals.latestMonoMs, expiresMonoMs);
    }
  }

  /** The summaries, one per resource. Expiries become wall times by the clocks handed in. */
  finish(now: SnapshotTime): SampledResource[] {
    return [...this.#totals].map(([resource, totals]) => summarize(resource, totals, now));
  }

  #totalsOf(resource: string): Totals {
    let totals = this.#totals.get(resource);
    if (totals === undefined) {
      const never = Number.POSITIVE_INFINITY;
      totals = {
        keys: 0,
        withoutExpiry: 0,
        earliestMonoMs: never,
        latestMonoMs: -never,
        oldestMonoMs: never,
      };
      this.#totals.set(resource, totals);
    }
    return totals;
  }
}

function summarize(resource: string, totals: Totals, { wallMs, monoMs }: SnapshotTime): SampledResource {
  const { keys, withoutExpiry, earliestMonoMs, latestMonoMs, oldestMonoMs } = totals;
  const summary = { resource, keys, withoutExpiry, oldestHoldS: Math.max(0, monoMs - oldestMonoMs) / 1000 };
  if (keys === withoutExpiry) return summary;
  return {
    ...summary,
    earliestExpiryMs: wallMs + earliestMonoMs - monoMs,
    latestExpiryMs: wallMs + latestMonoMs - monoMs,
  };
}
