import { describe, expect, it } from 'vitest';
import { acquired } from '../ledger/events.js';
import { makeMetrics, readSeries } from './page-reader.js';

const OF = { store: 'orders', resource: 'stock' } as const;
const of = (family: string, more = '') => `redis_lock_${family}{store="orders",resource="stock"${more}}`;

describe('a finding', () => {
  it.each([
    ['ghost_holder', 'ghost_holders_total'],
    ['zombie_renewal', 'zombie_renewals_total'],
    ['fence_regression', 'fence_regressions_total'],
    ['overlap', 'overlaps_total'],
  ] as const)('%s counts in %s', async (kind, family) => {
    const metrics = makeMetrics();
    metrics.recordFinding({ kind, ...OF });
    expect((await readSeries(metrics)).get(of(family))).toBe(1);
  });

  it.each([true, false])('of an abandoned hold tells whether it was taken over: %s', async (takenOver) => {
    const metrics = makeMetrics();
    metrics.recordFinding({ kind: 'abandoned', takenOver, ...OF });
    const series = await readSeries(metrics);
    expect(series.get(of('abandoned_total', `,taken_over="${takenOver}"`))).toBe(1);
  });

  it('of a ghost is a loss found by a sample', async () => {
    const metrics = makeMetrics();
    metrics.recordFinding({ kind: 'ghost_holder', ...OF });
    expect((await readSeries(metrics)).get(of('lost_total', ',detected_by="sample"'))).toBe(1);
  });

  it('of an overlap’s end is observed in seconds', async () => {
    const metrics = makeMetrics();
    metrics.recordFinding({ kind: 'overlap_end', lengthMs: 2500, ...OF });
    const series = await readSeries(metrics);
    expect(series.get(of('overlap_seconds_sum'))).toBe(2.5);
    expect(series.get(of('overlap_seconds_count'))).toBe(1);
  });

  it('has its counter at 0 from the first event of its resource on, where a rule waits for it', async () => {
    const metrics = makeMetrics();
    metrics.recordEvent(acquired(), 'orders');
    const series = await readSeries(metrics);
    for (const family of ['ghost_holders_total', 'fence_regressions_total'])
      expect(series.get(of(family))).toBe(0);
    for (const takenOver of ['true', 'false'])
      expect(series.get(of('abandoned_total', `,taken_over="${takenOver}"`))).toBe(0);
  });
});

describe('gauges of the ledger', () => {
  it('are replaced as a whole', async () => {
    const metrics = makeMetrics();
    metrics.publishHolders('orders', [{ resource: 'stock', holders: 3, unsure: 1 }]);
    metrics.publishStandings('orders', [{ resource: 'stock', foreign: 2, orphans: 1 }]);
    const series = await readSeries(metrics);
    expect(
      ['holders', 'unsure_holders', 'foreign_keys', 'orphan_keys'].map((family) => series.get(of(family))),
    ).toEqual([3, 1, 2, 1]);
    metrics.publishHolders('orders', []);
    metrics.publishStandings('orders', []);
    const after = await readSeries(metrics);
    expect(['holders', 'foreign_keys', 'orphan_keys'].map((family) => after.get(of(family)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('add up what is folded into one resource', async () => {
    const metrics = makeMetrics({ resourceCap: 1 });
    const counts = ['a', 'b', 'c'].map((resource) => ({ resource, holders: 2, unsure: 0 }));
    metrics.publishHolders('orders', counts);
    expect((await readSeries(metrics)).get('redis_lock_holders{store="orders",resource="__other__"}')).toBe(
      4,
    );
  });

  it('of a hot lock without an ended hold say nothing of its hold', async () => {
    const metrics = makeMetrics();
    const lock = {
      lock: '0123456789abcdef',
      attempts: 5,
      contendedRatio: 0.2,
      busyRatio: 1,
      meanHoldMs: null,
    };
    metrics.publishHotLocks('orders', [{ resource: 'stock', ...lock }]);
    const series = await readSeries(metrics);
    expect(series.get(of('hot_busy_ratio', ',lock="0123456789abcdef"'))).toBe(1);
    expect(series.get(of('hot_hold_seconds', ',lock="0123456789abcdef"'))).toBeUndefined();
  });
});
