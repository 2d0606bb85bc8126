import { describe, expect, it } from 'vitest';
import { SAMPLE_FAMILIES } from '../../../../exporter/metrics/catalogue-sample.js';
import type { Metrics, SampledResource, SampleReport } from '../../../../exporter/metrics/ports.js';
import type { SamplePort } from '../../../../exporter/sampler/ports.js';
import { makeMetrics, readSeries } from './page-reader.js';

const STOCK: SampledResource = {
  resource: 'stock',
  keys: 3,
  withoutExpiry: 1,
  earliestExpiryMs: 1_796_000_001_000,
  latestExpiryMs: 1_796_000_002_500,
  oldestHoldS: 4.5,
};

function report(resources: Iterable<SampledResource>, more: Partial<SampleReport> = {}): SampleReport {
  return {
    store: 'default',
    takenAtMs: 1_796_000_000_000,
    durationMs: 120,
    truncated: false,
    resources,
    ...more,
  };
}

/** The sampled series of a store, without prefix and store label. */
async function sampled(metrics: Metrics, store = 'default'): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [series, value] of await readSeries(metrics)) {
    const name = series.replace(/^redis_lock_/, '').replace(/\{.*/, '');
    if (name in SAMPLE_FAMILIES && series.includes(`store="${store}"`)) {
      found[
        series
          .replace(/^redis_lock_/, '')
          .replace(`store="${store}",`, '')
          .replace(`{store="${store}"}`, '')
      ] = value;
    }
  }
  return found;
}

const NO_ERRORS = {
  'sample_errors_total{reason="connection"}': 0,
  'sample_errors_total{reason="command_timeout"}': 0,
  'sample_skipped_total{reason="duty"}': 0,
  'sample_skipped_total{reason="busy"}': 0,
};
/** Born with the first sight of the resource. */
const UNCHANGED = {
  'observed_renewals_total{resource="stock"}': 0,
  'observed_handovers_total{resource="stock"}': 0,
  'observed_released_total{resource="stock"}': 0,
  'observed_expired_total{resource="stock"}': 0,
};
const GOOD = {
  ...NO_ERRORS,
  'up{reason="ok"}': 1,
  sample_timestamp_seconds: 1_796_000_000,
  sample_duration_seconds: 0.12,
  sample_truncated: 0,
  sample_ignored_keys: 0,
};

describe('a published sample', () => {
  it('comes from the sampler through its own port', () => {
    const port: SamplePort = makeMetrics();
    expect(typeof port.publishSample).toBe('function');
  });

  it('shows every sampled family, in seconds', async () => {
    const metrics = makeMetrics();
    metrics.publishSample(report([STOCK]));
    expect(await sampled(metrics)).toEqual({
      ...GOOD,
      'keys{resource="stock"}': 3,
      'keys_without_expiry{resource="stock"}': 1,
      'earliest_expiry_timestamp_seconds{resource="stock"}': 1_796_000_001,
      'latest_expiry_timestamp_seconds{resource="stock"}': 1_796_000_002.5,
      'oldest_hold_seconds{resource="stock"}': 4.5,
      ...UNCHANGED,
    });
  });

  it('shows nothing for what the sample did not look at', async () => {
    const metrics = makeMetrics();
    metrics.publishSample(report([{ resource: 'stock', keys: 1, withoutExpiry: 1 }], { truncated: true }));
    expect(await sampled(metrics)).toEqual({
      ...GOOD,
      sample_truncated: 1,
      'keys{resource="stock"}': 1,
      'keys_without_expiry{resource="stock"}': 1,
      ...UNCHANGED,
    });
  });

  it('adds up what was seen to happen, also to a resource whose keys are gone', async () => {
    const metrics = makeMetrics({ firstIncrementHoldMs: 0 });
    const change = { resource: 'stock', renewals: 2, handovers: 1, released: 3, expired: 0 };
    metrics.publishSample(report([STOCK], { changes: [change], ignoredKeys: 4 }));
    metrics.publishSample(report([], { changes: [{ ...change, expired: 1 }], ignoredKeys: 4 }));
    expect(await sampled(metrics)).toEqual({
      ...GOOD,
      sample_ignored_keys: 4,
      'observed_renewals_total{resource="stock"}': 4,
      'observed_handovers_total{resource="stock"}': 2,
      'observed_released_total{resource="stock"}': 6,
      'observed_expired_total{resource="stock"}': 1,
    });
  });

  it('takes the series of a resource whose keys are gone away with the next sample, and no event counter', async () => {
    const metrics = makeMetrics();
    metrics.recordFinding({ kind: 'overlap', store: 'default', resource: 'r7' });
    const fifty = Array.from({ length: 50 }, (_, index) => ({ ...STOCK, resource: `r${index}` }));
    metrics.publishSample(report(fifty));
    metrics.publishSample(report([{ ...STOCK, resource: 'r3' }]));
    const keys = Object.keys(await sampled(metrics)).filter((series) => series.startsWith('keys{'));
    expect(keys).toEqual(['keys{resource="r3"}']);
    expect((await readSeries(metrics)).get('redis_lock_overlaps_total{store="default",resource="r7"}')).toBe(
      1,
    );
  });

  it('gives birth to no event family', async () => {
    const metrics = makeMetrics();
    metrics.publishSample(report([STOCK]));
    expect([...(await readSeries(metrics)).keys()].join('\n')).not.toMatch(
      /^redis_lock_(acquire|hold|lost|release)/m,
    );
  });

  it('adds up what is folded into __other__ by the cap it shares with events', async () => {
    const metrics = makeMetrics({ resourceCap: 1 });
    metrics.recordFinding({ kind: 'overlap', store: 'default', resource: 'first' });
    const b = { ...STOCK, resource: 'b', earliestExpiryMs: 1_796_000_000_500, oldestHoldS: 9 };
    metrics.publishSample(report([STOCK, b, { resource: 'c', keys: 1, withoutExpiry: 0 }]));
    expect(await sampled(metrics)).toMatchObject({
      'keys{resource="__other__"}': 7,
      'keys_without_expiry{resource="__other__"}': 2,
      'earliest_expiry_timestamp_seconds{resource="__other__"}': 1_796_000_000.5,
      'latest_expiry_timestamp_seconds{resource="__other__"}': 1_796_000_002.5,
      'oldest_hold_seconds{resource="__other__"}': 9,
    });
  });

  it('is not published in part when reading its resources fails', async () => {
    const metrics = makeMetrics();
    metrics.publishSample(report([STOCK]));
    const before = await sampled(metrics);
    function* broken() {
      yield { ...STOCK, keys: 99 };
      throw new Error('cut');
    }
    expect(() => metrics.publishSample(report(broken(), { takenAtMs: 1_796_000_100_000 }))).toThrow('cut');
    expect(await sampled(metrics)).toEqual(before);
  });

  it('leaves a value out that is no number, and says so', async () => {
    const metrics = makeMetrics();
    metrics.publishSample(report([{ ...STOCK, keys: Number.NaN, oldestHoldS: -1 }]));
    const series = await sampled(metrics);
    expect(series).not.toHaveProperty(['keys{resource="stock"}']);
    expect(series).not.toHaveProperty(['oldest_hold_seconds{resource="stock"}']);
    expect(series).toHaveProperty(['keys_without_expiry{resource="stock"}'], 1);
    const all = await readSeries(metrics);
    expect(all.get('redis_lock_exporter_values_refused_total{family="redis_lock_keys"}')).toBe(1);
  });
});

describe('a withdrawn sample', () => {
  it('leaves the reason and the time of the last good one, nothing frozen and nothing at 0', async () => {
    const metrics = makeMetrics();
    metrics.publishSample(report([STOCK]));
    metrics.withdrawSample('default', 'connection');
    expect(await sampled(metrics)).toEqual({
      ...NO_ERRORS,
      'up{reason="connection"}': 0,
      sample_timestamp_seconds: 1_796_000_000,
      ...UNCHANGED,
    });
  });

  it('is one series of up per store, before, during and after', async () => {
    const metrics = makeMetrics();
    const up = async () =>
      Object.entries(await sampled(metrics)).filter(([series]) => series.startsWith('up'));
    metrics.withdrawSample('default', 'starting');
    expect(await up()).toEqual([['up{reason="starting"}', 0]]);
    metrics.publishSample(report([]));
    expect(await up()).toEqual([['up{reason="ok"}', 1]]);
    metrics.withdrawSample('default', 'loading');
    metrics.withdrawSample('default', 'connection');
    expect(await up()).toEqual([['up{reason="connection"}', 0]]);
  });

  it('touches neither another store nor the events', async () => {
    const metrics = makeMetrics();
    metrics.recordFinding({ kind: 'overlap', store: 'default', resource: 'stock' });
    metrics.publishSample(report([STOCK], { store: 'other' }));
    const before = await sampled(metrics, 'other');
    metrics.withdrawSample('default', 'connection');
    expect(await sampled(metrics, 'other')).toEqual(before);
    expect(
      (await readSeries(metrics)).get('redis_lock_overlaps_total{store="default",resource="stock"}'),
    ).toBe(1);
  });
});

describe('sample errors', () => {
  it('are counted by reason and withdraw nothing', async () => {
    const metrics = makeMetrics();
    metrics.publishSample(report([STOCK]));
    const before = await sampled(metrics);
    metrics.sampleError('default', 'command_timeout');
    metrics.sampleError('default', 'moved');
    metrics.sampleSkipped('default', 'duty');
    expect(await sampled(metrics)).toEqual({
      ...before,
      'sample_skipped_total{reason="duty"}': 1,
      'sample_errors_total{reason="command_timeout"}': 1,
      'sample_errors_total{reason="moved"}': 1,
    });
  });

  it('hold a first error of a new reason back, so that increase() sees it', async () => {
    const metrics = makeMetrics({ firstIncrementHoldMs: 60_000 });
    metrics.sampleError('default', 'moved');
    expect(await sampled(metrics)).toHaveProperty(['sample_errors_total{reason="moved"}'], 0);
  });
});
