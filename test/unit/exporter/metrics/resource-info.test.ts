import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../../../exporter/config/resource-policy.js';
import type { Metrics } from '../../../../exporter/metrics/ports.js';
import { EXAMPLE_EVENTS } from '../../../contract/examples.js';
import { makeMetrics, readSeries } from './page-reader.js';

const NIGHTLY = {
  kind: 'cron',
  page: false,
  expiry: 'required',
  events: 'none',
  intervalMs: 90_000_000,
} as const;

function metricsWithPolicies(): Metrics {
  const policies = { store: 'shop', byResource: new Map([['nightly', NIGHTLY]]), byDefault: DEFAULT_POLICY };
  return makeMetrics({ policies });
}

async function infos(metrics: Metrics): Promise<string[]> {
  return [...(await readSeries(metrics))].flatMap(([series, value]) =>
    series.includes('_resource_i') ? [`${series} ${value}`] : [],
  );
}

const NIGHTLY_SERIES = [
  'redis_lock_resource_info{store="shop",resource="nightly",kind="cron",page="false",expiry="required",events="none"} 1',
  'redis_lock_resource_interval_seconds{store="shop",resource="nightly"} 90000',
];
const STOCK_SERIES =
  'redis_lock_resource_info{store="shop",resource="stock",kind="mutex",page="true",expiry="optional",events="expected"} 1';

describe('the policy of a resource', () => {
  it('is on the page from the start when it is configured: a job that never ran must be missed', async () => {
    expect(await infos(metricsWithPolicies())).toEqual(NIGHTLY_SERIES);
  });

  it('is the default for a resource that is not configured, seen first by an event or by a sample, once', async () => {
    const byEvent = metricsWithPolicies();
    const [release] = EXAMPLE_EVENTS.release;
    if (release === undefined) throw new Error('no example');
    for (let times = 0; times < 2; times += 1) byEvent.recordEvent(release, 'shop');
    const bySample = metricsWithPolicies();
    const resources = [{ resource: 'stock', keys: 1, withoutExpiry: 0 }];
    bySample.publishSample({
      store: 'shop',
      takenAtMs: 1_796_000_000_000,
      durationMs: 1,
      truncated: false,
      resources,
    });
    for (const metrics of [byEvent, bySample]) {
      expect((await infos(metrics)).sort()).toEqual([...NIGHTLY_SERIES, STOCK_SERIES].sort());
    }
  });
});
