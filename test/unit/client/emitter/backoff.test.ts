import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backoffMs,
  CONFIGURATION_BACKOFF,
  MAX_RETRY_AFTER_MS,
  TRANSIENT_BACKOFF,
} from '../../../../client/emitter/backoff.js';

describe('backoffMs', () => {
  it('doubles the upper end of the draw up to the cap', () => {
    const pauses = [1, 2, 3, 6, 7, 1000].map((failures) => backoffMs(failures, TRANSIENT_BACKOFF, () => 0.5));
    expect(pauses).toEqual([100, 200, 400, 3200, 5000, 5000]);
  });

  it('never spins and never sleeps beyond its cap, whatever the chance', () => {
    const curve = fc.constantFrom(TRANSIENT_BACKOFF, CONFIGURATION_BACKOFF);
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), curve, chance, (failures, { ...bounds }, draw) => {
        const pauseMs = backoffMs(failures, bounds, () => draw);
        expect(pauseMs).toBeGreaterThanOrEqual(bounds.floorMs);
        expect(pauseMs).toBeLessThanOrEqual(bounds.capMs);
      }),
    );
  });

  it('waits at least as long as the server asks, within bounds', () => {
    expect(backoffMs(1, TRANSIENT_BACKOFF, () => 0, 3000)).toBe(3020);
    expect(backoffMs(1, TRANSIENT_BACKOFF, () => 0, 1e9)).toBe(MAX_RETRY_AFTER_MS + 20);
  });
});
