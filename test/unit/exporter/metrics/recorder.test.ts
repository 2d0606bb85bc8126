import { collectDefaultMetrics, Registry, register } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { LockEvent } from '../../../../contract/event.js';
import type { IngestPorts } from '../../../../exporter/ingest/ports.js';
import type { Finding } from '../../../../exporter/ledger/finding.js';
import type { MetricFinding, Metrics } from '../../../../exporter/metrics/ports.js';
import { createMetrics } from '../../../../exporter/metrics/recorder.js';
import { EXAMPLE_EVENTS, exampleBatch } from '../../../contract/examples.js';
import { FakeClock } from '../../../support/clocks.js';
import { promtoolCheckMetrics } from '../../../support/promtool.js';
import { labelOf, makeMetrics, readPage, readSeries } from './page-reader.js';

const [GRANT] = EXAMPLE_EVENTS.acquire;
const [LOST] = EXAMPLE_EVENTS.lost;
const [RELEASE] = EXAMPLE_EVENTS.release;

function of(event: LockEvent | undefined, resource: string): LockEvent {
  if (event === undefined) throw new Error('the example is missing');
  return { ...event, resource };
}

const LOST_SERIES = 'redis_lock_lost_total{store="default",resource="stock",detected_by="deadline"}';

describe('the whole page', () => {
  it('is the golden one', async () => {
    const metrics = makeMetrics();
    fillWithEverything(metrics);
    await expect(await readPage(metrics)).toMatchFileSnapshot('golden-page.txt');
  });

  it('is accepted by promtool, parser and linter, process defaults included', async () => {
    const metrics = makeMetrics({ processMetrics: true });
    fillWithEverything(metrics);
    const page = await readPage(metrics);
    expect(page).toContain('\nprocess_resident_memory_bytes ');
    expect(await promtoolCheckMetrics(page)).toEqual({ ok: true, output: '' });
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('has no timestamps, whatever the events say', async () => {
    const metrics = makeMetrics();
    for (const atMs of [1_000_000_000_000, 9_999_999_999_999])
      metrics.recordEvent({ ...of(LOST, 'stock'), atMs }, 'default');
    for (const line of (await readPage(metrics)).split('\n')) {
      if (!line.startsWith('#')) expect(line).toMatch(/^$|^[^ ]+ \S+$/);
    }
  });

  it('holds neither keys nor owners nor lock ids', async () => {
    const metrics = makeMetrics();
    fillWithEverything(metrics);
    const page = await readPage(metrics);
    for (const secret of ['bG9jazpzdG9jazox', 'fedcba9876543210', '0123456789abcdef', '4bf92f3577b34da6']) {
      expect(page).not.toContain(secret);
    }
  });
});

describe('first increments', () => {
  it('a loss right after the birth of its resource shows as 0 first and as 1 after the hold', async () => {
    const clock = new FakeClock();
    const metrics = makeMetrics({ clock, firstIncrementHoldMs: 60_000 });
    metrics.recordEvent(of(GRANT, 'stock'), 'default');
    metrics.recordEvent(of(LOST, 'stock'), 'default');
    await clock.advance(59_999);
    expect((await readSeries(metrics)).get(LOST_SERIES)).toBe(0);
    await clock.advance(1);
    expect((await readSeries(metrics)).get(LOST_SERIES)).toBe(1);
  });

  it('a loss of a resource that is older than the hold shows at once', async () => {
    const clock = new FakeClock();
    const metrics = makeMetrics({ clock, firstIncrementHoldMs: 60_000 });
    metrics.recordEvent(of(GRANT, 'stock'), 'default');
    await clock.advance(60_000);
    metrics.recordEvent(of(LOST, 'stock'), 'default');
    expect((await readSeries(metrics)).get(LOST_SERIES)).toBe(1);
  });

  it('is counted on the monotonic clock: a jump of the wall clock neither shows early nor hides longer', async () => {
    const clock = new FakeClock();
    const metrics = makeMetrics({ clock, firstIncrementHoldMs: 60_000 });
    metrics.recordEvent(of(LOST, 'stock'), 'default');
    clock.jumpWall(3_600_000);
    expect((await readSeries(metrics)).get(LOST_SERIES)).toBe(0);
    clock.jumpWall(-7_200_000);
    await clock.advance(60_000);
    expect((await readSeries(metrics)).get(LOST_SERIES)).toBe(1);
  });

  it('holds overlaps and histograms, and shows gauges and own counters at once', async () => {
    const metrics = makeMetrics({ firstIncrementHoldMs: 60_000 });
    metrics.recordEvent(of(RELEASE, 'stock'), 'default');
    metrics.recordFinding({ kind: 'overlap', store: 'default', resource: 'stock' });
    metrics.counters.eventAccepted('release');
    const series = await readSeries(metrics);
    const labels = '{store="default",resource="stock"}';
    expect(series.get(`redis_lock_overlaps_total${labels}`)).toBe(0);
    expect(series.get(`redis_lock_hold_seconds_count${labels}`)).toBe(0);
    expect(series.get(`redis_lock_hold_seconds_sum${labels}`)).toBe(0);
    expect(series.get(`redis_lock_last_hold_lease_ratio${labels}`)).toBeCloseTo(0.27, 2);
    expect(series.get('redis_lock_exporter_events_total{kind="release"}')).toBe(1);
  });

  it('starts no timer: a page decides by the clock alone', async () => {
    const clock = new FakeClock();
    const metrics = makeMetrics({ clock, firstIncrementHoldMs: 60_000 });
    metrics.recordEvent(of(LOST, 'stock'), 'default');
    await readPage(metrics);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('resource names', () => {
  const NAMES = [
    'a"b',
    'a\\b',
    'a\\',
    'a\\"b',
    'a\\nb',
    'a\nb',
    'a\rb',
    '\u{1F512} 锁',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'x,owner:y',
    'x",store="y',
    '{}',
    ' ',
    '# HELP x',
  ];

  it('of any kind stay distinct series and come back as they were', async () => {
    const metrics = makeMetrics();
    for (const name of NAMES) metrics.recordEvent(of(LOST, name), 'default');
    const page = await readPage(metrics);
    expect(await promtoolCheckMetrics(page)).toEqual({ ok: true, output: '' });
    const lost = [...(await readSeries(metrics))].filter(
      ([series]) =>
        series.startsWith('redis_lock_lost_total') && labelOf(series, 'detected_by') === 'deadline',
    );
    expect(lost.map(([series, value]) => [labelOf(series, 'resource'), value])).toEqual(
      NAMES.map((name) => [name, 1]),
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('with broken surrogates become one series, not two that look alike and spoil the scrape', async () => {
    const metrics = makeMetrics();
    for (const name of ['\ud800', '\ud801', '\ufffd']) metrics.recordEvent(of(LOST, name), 'default');
    const series = await readSeries(metrics);
    expect(
      series.get('redis_lock_lost_total{store="default",resource="\ufffd",detected_by="deadline"}'),
    ).toBe(3);
    expect(series.get('redis_lock_exporter_resources')).toBe(1);
  });

  it('keep stores apart', async () => {
    const metrics = makeMetrics();
    metrics.recordEvent(of(LOST, 'stock'), 'a');
    metrics.recordEvent(of(LOST, 'stock'), 'b');
    metrics.recordEvent(of(LOST, 'stock'), 'b');
    const series = await readSeries(metrics);
    const lost = (store: string) =>
      series.get(`redis_lock_lost_total{store="${store}",resource="stock",detected_by="deadline"}`);
    expect([lost('a'), lost('b')]).toEqual([1, 2]);
  });
});

describe('bounds', () => {
  it('200,000 resources keep 200 names and one __other__, and no event is missing from the sum', async () => {
    const metrics = makeMetrics();
    for (let index = 0; index < 200_000; index += 1) metrics.recordEvent(of(LOST, `r${index}`), 'default');
    const series = await readSeries(metrics);
    const lost = [...series].filter(([name]) => name.startsWith('redis_lock_lost_total{'));
    expect(new Set(lost.map(([name]) => labelOf(name, 'resource'))).size).toBe(201);
    expect(lost.reduce((sum, [, value]) => sum + value, 0)).toBe(200_000);
    expect(series.get('redis_lock_exporter_label_overflow_total{label="resource"}')).toBe(199_800);
    expect(series.get('redis_lock_exporter_resources')).toBe(50_200);
    expect(series.size).toBeLessThan(201 * 110);
  });

  it('a name once admitted keeps its series, and counts on, whatever comes later', async () => {
    const metrics = makeMetrics({ resourceCap: 2 });
    for (const name of ['a', 'b', 'c', 'a', 'd', 'a']) metrics.recordEvent(of(LOST, name), 'default');
    const series = await readSeries(metrics);
    const lost = (name: string) =>
      series.get(`redis_lock_lost_total{store="default",resource="${name}",detected_by="deadline"}`);
    expect(['a', 'b', 'c', '__other__'].map(lost)).toEqual([3, 1, undefined, 2]);
  });

  it('a flood of store names is bounded as well', async () => {
    const metrics = makeMetrics();
    for (let index = 0; index < 1000; index += 1) metrics.recordEvent(of(LOST, 'stock'), `s${index}`);
    const series = await readSeries(metrics);
    const lost = [...series].filter(([name]) => name.startsWith('redis_lock_lost_total{'));
    expect(new Set(lost.map(([name]) => labelOf(name, 'store'))).size).toBe(33);
    expect(lost.reduce((sum, [, value]) => sum + value, 0)).toBe(1000);
    expect(series.get('redis_lock_exporter_label_overflow_total{label="store"}')).toBe(968);
  });

  it('words that no list knows are bounded, and counted under "other"', async () => {
    const metrics = makeMetrics();
    for (let index = 0; index < 1000; index += 1) metrics.countRefusal('local', `word${index}`);
    const batches = [...(await readSeries(metrics))].filter(([name]) => name.includes('refused_total{'));
    expect(batches.length).toBeLessThan(100);
    expect(batches.reduce((sum, [, value]) => sum + value, 0)).toBe(1000);
  });
});

describe('values that break the contract', () => {
  it('are left out and counted, while the release itself counts', async () => {
    const metrics = makeMetrics();
    metrics.recordEvent(of(RELEASE, 'stock'), 'default');
    const bad = { ...of(RELEASE, 'stock'), holdMs: Number.NaN, peakUse: -1 } as LockEvent;
    metrics.recordEvent(bad, 'default');
    metrics.recordEvent({ ...of(RELEASE, 'stock'), leaseMs: 0 } as LockEvent, 'default');
    const series = await readSeries(metrics);
    const labels = '{store="default",resource="stock"}';
    expect(series.get(`redis_lock_release_total${labels}`)).toBe(3);
    expect(series.get(`redis_lock_hold_seconds_count${labels}`)).toBe(2);
    expect(series.get(`redis_lock_hold_seconds_sum${labels}`)).toBeCloseTo(1.6245, 4);
    expect(series.get(`redis_lock_last_hold_lease_ratio${labels}`)).toBeCloseTo(0.2707, 4);
    const refused = (family: string) =>
      series.get(`redis_lock_exporter_values_refused_total{family="redis_lock_${family}"}`);
    expect(['hold_seconds', 'lease_peak_use_ratio', 'hold_lease_ratio'].map(refused)).toEqual([1, 1, 2]);
  });
});

describe('the counters of ingest', () => {
  it('satisfy the port of ingest, and findings of the ledger fit', () => {
    const metrics = makeMetrics();
    const port: IngestPorts['counters'] = metrics.counters;
    const finding: MetricFinding | undefined = undefined as Finding | undefined;
    expect([typeof port.batch, finding]).toEqual(['function', undefined]);
  });

  it('move their families and no other', async () => {
    const metrics = makeMetrics();
    const before = await readSeries(metrics);
    const { counters } = metrics;
    counters.batch('accepted');
    counters.eventsReceived(9);
    counters.eventAccepted('acquire');
    counters.eventRejected('out_of_range');
    counters.eventsDuplicate(3);
    counters.producerDropped('queue_full', 7);
    counters.producerDropped('other', 5);
    counters.seqGap(6);
    counters.producers(8);
    counters.producersForgotten(1);
    const moved = [...(await readSeries(metrics))].filter(([name, value]) => value !== before.get(name));
    expect(
      Object.fromEntries(moved.map(([name, value]) => [name.replace('redis_lock_exporter_', ''), value])),
    ).toEqual({
      'batches_total{result="accepted"}': 1,
      events_received_total: 9,
      'events_total{kind="acquire"}': 1,
      'events_rejected_total{reason="out_of_range"}': 1,
      events_duplicate_total: 3,
      'producer_dropped_total{reason="queue_full"}': 7,
      'producer_dropped_total{reason="other"}': 5,
      seq_gaps_total: 6,
      producers: 8,
      producers_forgotten_total: 1,
    });
  });

  it('show all their zeros before anything happened', async () => {
    const series = await readSeries(makeMetrics());
    expect(series.get('redis_lock_exporter_build_info{version="1.2.3"}')).toBe(1);
    expect(series.get('redis_lock_exporter_events_total{kind="lost"}')).toBe(0);
    expect(series.get('redis_lock_exporter_producer_dropped_total{reason="queue_full"}')).toBe(0);
    expect(series.get('redis_lock_exporter_producers')).toBe(0);
  });
});

describe('several in one process', () => {
  // C3: prometheus/client_js#196, #334, willsoto/nestjs-prometheus#1928.
  it("count apart, and leave prom-client's global registry as the application made it (C3)", async () => {
    collectDefaultMetrics({ register: new Registry() });
    const options = { clock: new FakeClock(), version: '1.2.3', firstIncrementHoldMs: 0 };
    const [first, second] = [createMetrics(options), createMetrics(options)];
    first.recordEvent(of(LOST, 'stock'), 'default');
    expect((await readSeries(first)).get(LOST_SERIES)).toBe(1);
    expect((await readSeries(second)).has(LOST_SERIES)).toBe(false);
    expect(register.getMetricsAsArray()).toEqual([]);
  });

  it('render two pages at once without mixing them', async () => {
    const metrics = makeMetrics();
    for (let index = 0; index < 30; index += 1) metrics.recordEvent(of(RELEASE, `r${index}`), 'default');
    const [first, second] = await Promise.all([readPage(metrics), readPage(metrics)]);
    expect(first).toBe(second);
    expect(first).toBe(await readPage(metrics));
  });
});

/** Everything that can be on a page, small. */
function fillWithEverything(metrics: Metrics): void {
  for (const event of exampleBatch().events) metrics.recordEvent(event, 'default');
  metrics.recordEvent(
    { ...of(RELEASE, 'stock'), holdMs: 9000, renewals: 9, peakUse: 0.4 } as LockEvent,
    'default',
  );
  metrics.recordFinding({ kind: 'overlap', store: 'default', resource: 'stock' });
  metrics.counters.batch('accepted');
  metrics.counters.eventsReceived(exampleBatch().events.length);
  for (const { kind } of exampleBatch().events) metrics.counters.eventAccepted(kind);
  metrics.counters.producers(1);
  metrics.publishSample({
    store: 'default',
    takenAtMs: 1_796_000_000_000,
    durationMs: 12.5,
    truncated: false,
    resources: [
      {
        resource: 'stock',
        keys: 3,
        withoutExpiry: 1,
        earliestExpiryMs: 1_796_000_001_000,
        latestExpiryMs: 1_796_000_002_000,
        oldestHoldS: 4,
      },
    ],
  });
  for (const kind of ['ghost_holder', 'zombie_renewal', 'fence_regression'] as const)
    metrics.recordFinding({ kind, store: 'default', resource: 'stock' });
  metrics.recordFinding({ kind: 'abandoned', takenOver: true, store: 'default', resource: 'stock' });
  metrics.recordFinding({ kind: 'overlap_end', store: 'default', resource: 'stock', lengthMs: 1500 });
  metrics.publishHolders('default', [{ resource: 'stock', holders: 3, unsure: 1 }]);
  metrics.publishStandings('default', [{ resource: 'stock', foreign: 2, orphans: 1 }]);
  const hot = { attempts: 12, contendedRatio: 0.5, busyRatio: 0.75, meanHoldMs: 1500 };
  metrics.publishHotLocks('default', [{ resource: 'stock', lock: 'ffffffffffffffff', ...hot }]);
  metrics.withdrawSample('replica', 'connection');
}
