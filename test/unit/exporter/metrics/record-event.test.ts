import { describe, expect, it } from 'vitest';
import type { LockEvent } from '../../../../contract/event.js';
import { EVENT_FAMILIES } from '../../../../exporter/metrics/catalogue-events.js';
import { FakeClock } from '../../../support/clocks.js';
import { makeMetrics, movedBy, readSeries } from './page-reader.js';

const COMMON = { atMs: 1_796_000_000_000, resource: 'stock', lock: '0123456789abcdef' } as const;
const HOLD = { ...COMMON, owner: 'fedcba9876543210' } as const;
const ACQUIRE = {
  ...COMMON,
  kind: 'acquire',
  mode: 'wait',
  waitMs: 1500,
  attempts: 1,
  leaseMs: 3000,
  watchdog: false,
} as const;
const RENEW = { ...HOLD, kind: 'renew', leaseMs: 3000, leftMs: 2000, lateMs: 40 } as const;
const RELEASE = {
  ...HOLD,
  kind: 'release',
  outcome: 'released',
  holdMs: 1500,
  leaseMs: 3000,
  renewals: 0,
  peakUse: 0.5,
  lost: false,
  loopDelayMs: 3,
} as const;
const LOST = { ...HOLD, kind: 'lost', sinceGrantMs: 3000, leaseMs: 3000, loopDelayMs: 9 } as const;

/** What every release moves. */
const RELEASED = { release_total: 1, hold_seconds_sum: 1.5, hold_seconds_count: 1 };
const FIXED = {
  ...RELEASED,
  lease_peak_use_ratio_sum: 0.5,
  lease_peak_use_ratio_count: 1,
  'hold_lease_ratio_sum{renewed="false"}': 0.5,
  'hold_lease_ratio_count{renewed="false"}': 1,
  last_hold_lease_ratio: 0.5,
};
const RENEWAL_SENT = {
  renewal_margin_ratio_sum: 0.666667,
  renewal_margin_ratio_count: 1,
  renewal_lateness_seconds_sum: 0.04,
  renewal_lateness_seconds_count: 1,
};
const WAITED = { acquire_wait_seconds_sum: 1.5, acquire_wait_seconds_count: 1 };
const WAIT_CALL = { 'acquire_total{mode="wait"}': 1 };

interface Case {
  name: string;
  event: LockEvent;
  /** Exactly what moves: every family not named here stands still. */
  moves: Record<string, number>;
}

const CASES: Case[] = [
  {
    name: 'a grant: one call, its wait, the time of receipt',
    event: { ...ACQUIRE, outcome: 'acquired', owner: HOLD.owner },
    moves: { ...WAIT_CALL, ...WAITED, last_acquired_timestamp_seconds: 1_704_067_200 },
  },
  {
    name: 'a grant after three attempts: two retries',
    event: { ...ACQUIRE, outcome: 'acquired', owner: HOLD.owner, attempts: 3 },
    moves: {
      ...WAIT_CALL,
      ...WAITED,
      acquire_retries_total: 2,
      last_acquired_timestamp_seconds: 1_704_067_200,
    },
  },
  {
    name: 'a contended try: a failure of mode try, and no wait',
    event: { ...ACQUIRE, mode: 'try', outcome: 'contended' },
    moves: {
      'acquire_total{mode="try"}': 1,
      'acquire_failures_total{mode="try",reason="contended"}': 1,
    },
  },
  {
    name: 'a timed-out wait: a failure, and its wait',
    event: { ...ACQUIRE, outcome: 'timeout', reason: 'wait_limit' },
    moves: { ...WAIT_CALL, ...WAITED, 'acquire_failures_total{mode="wait",reason="wait_limit"}': 1 },
  },
  {
    name: 'an acquire aborted before its first attempt: no retries below zero',
    event: { ...ACQUIRE, outcome: 'aborted', reason: 'shed', attempts: 0 },
    moves: { ...WAIT_CALL, 'acquire_failures_total{mode="wait",reason="shed"}': 1 },
  },
  {
    name: 'an acquire that Redis refused',
    event: { ...ACQUIRE, outcome: 'error', reason: 'readonly' },
    moves: { ...WAIT_CALL, 'acquire_failures_total{mode="wait",reason="readonly"}': 1 },
  },
  {
    name: 'an acquire of unknown outcome',
    event: { ...ACQUIRE, outcome: 'unknown', reason: 'command_timeout' },
    moves: { ...WAIT_CALL, 'acquire_failures_total{mode="wait",reason="command_timeout"}': 1 },
  },
  {
    name: 'a confirmed renewal',
    event: { ...RENEW, outcome: 'renewed' },
    moves: { ...RENEWAL_SENT, renewals_total: 1 },
  },
  {
    name: 'a renewal that found the key gone',
    event: { ...RENEW, outcome: 'expired' },
    moves: { ...RENEWAL_SENT, 'renewal_failures_total{reason="expired"}': 1 },
  },
  {
    name: "a renewal that found another's key",
    event: { ...RENEW, outcome: 'stolen' },
    moves: { ...RENEWAL_SENT, 'renewal_failures_total{reason="stolen"}': 1 },
  },
  {
    name: 'a renewal that Redis refused',
    event: { ...RENEW, outcome: 'error', reason: 'loading' },
    moves: { ...RENEWAL_SENT, 'renewal_failures_total{reason="loading"}': 1 },
  },
  {
    name: 'a renewal of unknown outcome',
    event: { ...RENEW, outcome: 'unknown', reason: 'connection' },
    moves: { ...RENEWAL_SENT, 'renewal_failures_total{reason="connection"}': 1 },
  },
  {
    name: 'a renewal that the caller asked for: not late, whenever it comes',
    event: { ...RENEW, outcome: 'renewed', lateMs: undefined } as unknown as LockEvent,
    moves: { renewals_total: 1, renewal_margin_ratio_sum: 0.666667, renewal_margin_ratio_count: 1 },
  },
  ...(['held', 'expired', 'stolen'] as const).map((outcome) => ({
    name: `a check answered ${outcome}: no loss by itself`,
    event: { ...HOLD, kind: 'check', outcome } as LockEvent,
    moves: { [`checks_total{outcome="${outcome}"}`]: 1 },
  })),
  {
    name: 'a check that Redis did not answer',
    event: { ...HOLD, kind: 'check', outcome: 'error', reason: 'connection' },
    moves: { 'checks_total{outcome="error"}': 1 },
  },
  ...(['deadline', 'renew', 'check', 'release', 'max_hold'] as const).map((by) => ({
    name: `a loss found by ${by}, and nothing else`,
    event: { ...LOST, by },
    moves: { [`lost_total{detected_by="${by}"}`]: 1 },
  })),
  { name: 'a release of a fixed lease', event: RELEASE, moves: FIXED },
  {
    name: 'a release of a renewed lease: peak use judges it, not hold ÷ lease',
    event: { ...RELEASE, holdMs: 15_000, renewals: 12, peakUse: 0.4 },
    moves: {
      release_total: 1,
      hold_seconds_sum: 15,
      hold_seconds_count: 1,
      lease_peak_use_ratio_sum: 0.4,
      lease_peak_use_ratio_count: 1,
      'hold_lease_ratio_sum{renewed="true"}': 5,
      'hold_lease_ratio_count{renewed="true"}': 1,
      renewals_per_hold_sum: 12,
      renewals_per_hold_count: 1,
      last_hold_lease_ratio: 0.4,
    },
  },
  {
    name: 'a release after a loss: not lost once more',
    event: { ...RELEASE, lost: true },
    moves: FIXED,
  },
  {
    name: 'a release that found the key gone',
    event: { ...RELEASE, outcome: 'expired', lost: true },
    moves: { ...FIXED, 'release_not_owned_total{cause="expired"}': 1 },
  },
  {
    name: "a release that found another's key",
    event: { ...RELEASE, outcome: 'stolen', lost: true },
    moves: { ...FIXED, 'release_not_owned_total{cause="stolen"}': 1 },
  },
  {
    name: 'a release that Redis refused',
    event: { ...RELEASE, outcome: 'error', reason: 'readonly' },
    moves: { ...FIXED, 'release_failures_total{reason="readonly"}': 1 },
  },
  {
    name: 'a release of unknown outcome',
    event: { ...RELEASE, outcome: 'unknown', reason: 'connection' },
    moves: { ...FIXED, 'release_failures_total{reason="connection"}': 1 },
  },
  { name: 'a commit', event: { ...HOLD, kind: 'commit', sinceGrantMs: 640 }, moves: {} },
  {
    name: 'a fenced write that was accepted',
    event: { ...COMMON, kind: 'fence', outcome: 'accepted', fence: 42, seen: 41 },
    moves: {},
  },
  {
    name: 'a fenced write that was rejected',
    event: { ...COMMON, kind: 'fence', outcome: 'rejected', fence: 41, seen: 42 },
    moves: { fence_rejections_total: 1 },
  },
  {
    name: 'a duplicate that idempotency absorbed',
    event: { ...COMMON, kind: 'duplicate', outcome: 'absorbed' },
    moves: { 'duplicate_executions_total{absorbed="true"}': 1 },
  },
  {
    name: 'a duplicate that nothing absorbed',
    event: { ...COMMON, kind: 'duplicate', outcome: 'unabsorbed' },
    moves: { 'duplicate_executions_total{absorbed="false"}': 1 },
  },
];

/** Names of families behind series as `movedBy` shortens them. */
function familyOf(series: string): string {
  return series.replace(/\{.*/, '').replace(/_(sum|count)$/, '');
}

describe('an event moves exactly its families', () => {
  it.each(CASES)('$name', async ({ event, moves }) => {
    const metrics = makeMetrics();
    const moved = await movedBy(metrics, () => metrics.recordEvent(event, 'default'));
    delete moved.exporter_resources;
    expect(moved).toEqual(moves);
  });

  it('an overlap moves overlaps_total alone, also when no event of the resource came first', async () => {
    const metrics = makeMetrics();
    const moved = await movedBy(metrics, () =>
      metrics.recordFinding({ kind: 'overlap', store: 'default', resource: 'stock' }),
    );
    expect(moved).toEqual({ overlaps_total: 1, exporter_resources: 1 });
  });

  it('leaves no event family of the catalogue without an event that moves it', () => {
    const moved = new Set(CASES.flatMap(({ moves }) => Object.keys(moves)).map(familyOf));
    moved.add('overlaps_total');
    expect(Object.keys(EVENT_FAMILIES).filter((name) => !moved.has(name))).toEqual([]);
  });
});

describe('what an event gives birth to', () => {
  it('seeds the known label values of a fresh resource with 0', async () => {
    const metrics = makeMetrics();
    metrics.recordEvent(RELEASE, 'default');
    const series = await readSeries(metrics);
    for (const by of ['deadline', 'renew', 'check', 'release', 'max_hold']) {
      expect(series.get(`redis_lock_lost_total{store="default",resource="stock",detected_by="${by}"}`)).toBe(
        0,
      );
    }
    expect(series.get('redis_lock_overlaps_total{store="default",resource="stock"}')).toBe(0);
  });

  it('keeps the families of watchdog, check, fence and duplicate away until they are used', async () => {
    const metrics = makeMetrics();
    metrics.recordEvent({ ...ACQUIRE, outcome: 'acquired', owner: HOLD.owner }, 'default');
    metrics.recordEvent(RELEASE, 'default');
    const used = [...(await readSeries(metrics)).keys()].join('\n');
    expect(used).not.toMatch(/renewal|checks_total|fence_rejections|duplicate_executions|renewed="true"/);
  });

  it('shows a rejection count of 0 once an accepted write was reported, so that the first rejection is an increase', async () => {
    const metrics = makeMetrics();
    metrics.recordEvent({ ...COMMON, kind: 'fence', outcome: 'accepted', fence: 42, seen: 41 }, 'default');
    const series = await readSeries(metrics);
    expect(series.get('redis_lock_fence_rejections_total{store="default",resource="stock"}')).toBe(0);
  });

  it('keeps a resource in typical use, sampled as well, within 110 series', async () => {
    const metrics = makeMetrics();
    const bare = (await readSeries(metrics)).size;
    for (const event of typicalUse()) metrics.recordEvent(event, 'default');
    const events = (await readSeries(metrics)).size - bare;
    expect(events).toBeGreaterThan(80);
    const sampled = 6;
    expect(events + sampled).toBeLessThanOrEqual(110);
  });

  it('shows the time of receipt by its own clock, whatever the client says', async () => {
    const clock = new FakeClock(Date.UTC(2030, 0, 1));
    const metrics = makeMetrics({ clock });
    metrics.recordEvent(
      { ...ACQUIRE, outcome: 'acquired', owner: HOLD.owner, atMs: 9_999_999_999_999 },
      'default',
    );
    const series = await readSeries(metrics);
    expect(series.get('redis_lock_last_acquired_timestamp_seconds{store="default",resource="stock"}')).toBe(
      Date.UTC(2030, 0, 1) / 1000,
    );
  });

  it('puts each value into the bucket whose bound it does not exceed', async () => {
    const metrics = makeMetrics();
    for (const holdMs of [0, 3000, 3003, 3004, 30_000, 30_001]) {
      metrics.recordEvent({ ...RELEASE, holdMs }, 'default');
    }
    const series = await readSeries(metrics);
    const bucket = (le: string) =>
      series.get(
        `redis_lock_hold_lease_ratio_bucket{le="${le}",store="default",resource="stock",renewed="false"}`,
      );
    expect(['0.1', '0.95', '1.001', '1.05', '10', '+Inf'].map(bucket)).toEqual([1, 1, 3, 4, 5, 6]);
  });
});

/** Fixed leases, some contention, a slow Redis for a while, one loss: no watchdog, fence reports or checks. */
function typicalUse(): LockEvent[] {
  const grant = { ...ACQUIRE, outcome: 'acquired', owner: HOLD.owner } as const;
  return [
    grant,
    RELEASE,
    { ...grant, mode: 'try' },
    { ...ACQUIRE, mode: 'try', outcome: 'contended' },
    { ...ACQUIRE, outcome: 'timeout', reason: 'wait_limit' },
    { ...ACQUIRE, outcome: 'timeout', reason: 'slow_reply' },
    { ...ACQUIRE, outcome: 'aborted', reason: 'signal' },
    { ...ACQUIRE, outcome: 'unknown', reason: 'command_timeout' },
    { ...ACQUIRE, mode: 'try', outcome: 'error', reason: 'readonly' },
    { ...ACQUIRE, outcome: 'error', reason: 'readonly' },
    { ...LOST, by: 'deadline' },
    { ...RELEASE, outcome: 'expired', lost: true },
    { ...RELEASE, outcome: 'error', reason: 'readonly' },
  ];
}
