import { expect, it } from 'vitest';
import type { LockEvent } from '../../../../contract/event.js';
import { EXAMPLE_EVENTS } from '../../../contract/examples.js';
import { makeMetrics, readSeries } from './page-reader.js';

const ALL: readonly LockEvent[] = Object.values(EXAMPLE_EVENTS).flat();

/** Series of one resource on the page after these events, a sample, and what the ledger publishes. */
async function seriesAfter(events: readonly LockEvent[]): Promise<number> {
  const metrics = makeMetrics();
  for (const event of events) metrics.recordEvent({ ...event, resource: 'stock' }, 'default');
  const counts = { keys: 3, withoutExpiry: 1, earliestExpiryMs: 1, latestExpiryMs: 2, oldestHoldS: 4 };
  const changes = [{ resource: 'stock', renewals: 1, handovers: 1, released: 1, expired: 1 }];
  const resources = [{ resource: 'stock', ...counts }];
  const sample = { store: 'default', takenAtMs: 1, durationMs: 1, truncated: false, resources, changes };
  metrics.publishSample(sample);
  metrics.publishHolders('default', [{ resource: 'stock', holders: 1, unsure: 0 }]);
  metrics.publishStandings('default', [{ resource: 'stock', foreign: 0, orphans: 0 }]);
  return [...(await readSeries(metrics)).keys()].filter((name) => name.includes('resource="stock"')).length;
}

it('a resource whose locks are taken and given back has about 110 series', async () => {
  const everyday = ALL.filter(
    (event) =>
      (event.kind === 'acquire' && event.outcome === 'acquired' && !event.watchdog) ||
      (event.kind === 'release' && event.outcome === 'released' && event.renewals === 0),
  );
  expect(everyday.length).toBeGreaterThan(1);
  expect(await seriesAfter(everyday)).toBeLessThanOrEqual(115);
});

it('one that uses everything and has met every failure of the examples has at most 180', async () => {
  expect(await seriesAfter(ALL)).toBeLessThanOrEqual(180);
});
