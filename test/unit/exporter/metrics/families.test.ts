import { describe, expect, it } from 'vitest';
import type { SampleLine } from '../../../../exporter/metrics/children.js';
import {
  type AnyFamily,
  CounterFamily,
  type FamilySettings,
  GaugeFamily,
  HistogramFamily,
} from '../../../../exporter/metrics/families.js';

const COMMON = {
  help: 'Help.',
  unit: 'count',
  source: 'events',
  birth: 'eager',
  stability: 'stable',
} as const;
const COUNTER = { ...COMMON, name: 'c_total', type: 'counter', labels: ['store', 'word'] } as const;
const GAUGE = { ...COMMON, name: 'g', type: 'gauge', labels: ['store', 'word'] } as const;
const HISTOGRAM = { ...COMMON, name: 'h', type: 'histogram', labels: ['store'], buckets: [1, 5] } as const;
const BAD_VALUES = [Number.NaN, -1, -Number.MIN_VALUE, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

function setUp(holdMs = 0) {
  let nowMs = 1000;
  const refused: string[] = [];
  const settings: FamilySettings = {
    nowMs: () => nowMs,
    firstIncrementHoldMs: holdMs,
    onRefused: (family) => refused.push(family),
  };
  const show = (family: AnyFamily) => {
    const lines: SampleLine[] = [];
    for (const child of family.children) child.appendLines(lines, nowMs);
    return lines.map(({ value }) => value);
  };
  return { settings, refused, show, advance: (ms: number) => (nowMs += ms) };
}

describe('the first-increment hold', () => {
  it('shows a newborn counter as 0 for exactly the hold, then with all that was added meanwhile', () => {
    const { settings, show, advance } = setUp(60_000);
    const family = new CounterFamily(COUNTER, settings);
    const child = family.child(['default', 'x']);
    child.inc();
    advance(59_999);
    child.inc();
    expect(show(family)).toEqual([0]);
    advance(1);
    expect(show(family)).toEqual([2]);
    child.inc();
    expect(show(family)).toEqual([3]);
  });

  it('holds every line of a histogram back together', () => {
    const { settings, show, advance } = setUp(60_000);
    const family = new HistogramFamily(HISTOGRAM, settings);
    family.child(['default']).observe(2);
    expect(show(family)).toEqual([0, 0, 0, 0, 0]);
    advance(60_000);
    expect(show(family)).toEqual([0, 1, 1, 2, 1]);
  });

  it('counts from the birth of each child, not of its family', () => {
    const { settings, show, advance } = setUp(60_000);
    const family = new CounterFamily(COUNTER, settings);
    family.child(['default', 'early']).inc();
    advance(60_000);
    family.child(['default', 'late']).inc();
    expect(show(family)).toEqual([1, 0]);
  });

  it("leaves gauges and the exporter's own families alone, and 0 turns it off", () => {
    const { settings, show } = setUp(60_000);
    const gauge = new GaugeFamily(GAUGE, settings);
    gauge.child(['default', 'x']).set(7);
    const own = new CounterFamily({ ...COUNTER, source: 'exporter' }, settings);
    own.child(['default', 'x']).inc();
    const off = new CounterFamily(COUNTER, { ...settings, firstIncrementHoldMs: 0 });
    off.child(['default', 'x']).inc();
    expect([gauge, own, off].map(show)).toEqual([[7], [1], [1]]);
  });
});

describe('values that are negative or not finite', () => {
  it.each(BAD_VALUES)('%d never poisons a counter', (bad) => {
    const { settings, refused, show } = setUp();
    const family = new CounterFamily(COUNTER, settings);
    const child = family.child(['default', 'x']);
    expect([child.inc(2), child.inc(bad), child.inc(3)]).toEqual([true, false, true]);
    expect(show(family)).toEqual([5]);
    expect(refused).toEqual(['c_total']);
  });

  it.each(BAD_VALUES)('%d never poisons a histogram: neither its sum nor its count', (bad) => {
    const { settings, refused, show } = setUp();
    const family = new HistogramFamily(HISTOGRAM, settings);
    const child = family.child(['default']);
    expect([child.observe(0.5), child.observe(bad), child.observe(9)]).toEqual([true, false, true]);
    expect(show(family)).toEqual([1, 1, 2, 9.5, 2]);
    expect(refused).toEqual(['h']);
  });

  it.each(BAD_VALUES)('%d leaves a gauge at its last value', (bad) => {
    const { settings, refused, show } = setUp();
    const family = new GaugeFamily(GAUGE, settings);
    const child = family.child(['default', 'x']);
    expect([child.set(4), child.set(bad)]).toEqual([true, false]);
    expect(show(family)).toEqual([4]);
    expect(refused).toEqual(['g']);
  });

  it('refuses what would carry a sum to infinity', () => {
    const { settings, show } = setUp();
    const family = new CounterFamily(COUNTER, settings);
    const child = family.child(['default', 'x']);
    expect([child.inc(Number.MAX_VALUE), child.inc(Number.MAX_VALUE)]).toEqual([true, false]);
    expect(show(family)).toEqual([Number.MAX_VALUE]);
  });

  it('refuses text where a number belongs instead of appending it', () => {
    const { settings, show } = setUp();
    const family = new CounterFamily(COUNTER, settings);
    const child = family.child(['default', 'x']);
    child.inc(1);
    child.inc('191' as unknown as number);
    expect(show(family)).toEqual([1]);
  });
});

describe('children', () => {
  it('are one and the same for the same label values', () => {
    const { settings } = setUp();
    const family = new CounterFamily(COUNTER, settings);
    expect(family.child(['a', 'b'])).toBe(family.child(['a', 'b']));
    expect(family.children).toHaveLength(1);
  });

  // C4: prometheus/client_js#682.
  it('stay apart when a separator stands inside a value (C4)', () => {
    const { settings } = setUp();
    const family = new CounterFamily(COUNTER, settings);
    const values = [
      ['x,owner:y', 'z'],
      ['x', 'owner:y,z'],
      ['x","y', 'z'],
      ['x', 'y","z'],
      ['', 'x'],
      ['x', ''],
    ];
    for (const value of values) family.child(value);
    expect(family.children).toHaveLength(values.length);
  });

  it('take names of Object.prototype like any others', () => {
    const { settings, show } = setUp();
    const family = new CounterFamily(COUNTER, settings);
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
      family.child(['default', name]).inc();
    }
    expect(show(family)).toEqual([1, 1, 1, 1]);
    expect(family.children.map(({ labels }) => labels.word)).toContain('__proto__');
  });

  it('refuse a wrong number of label values, which prom-client would show as "undefined"', () => {
    const { settings } = setUp();
    expect(() => new CounterFamily(COUNTER, settings).child(['default'])).toThrow(
      'c_total takes 2 label values, not 1',
    );
  });
});

describe('a gauge that is published as a whole', () => {
  it('replaces what the store had and leaves other stores alone', () => {
    const { settings } = setUp();
    const family = new GaugeFamily(GAUGE, settings);
    family.publish('a', [
      { values: ['a', 'x'], value: 1 },
      { values: ['a', 'y'], value: 2 },
    ]);
    family.publish('b', [{ values: ['b', 'x'], value: 3 }]);
    family.publish('a', [{ values: ['a', 'y'], value: 4 }]);
    expect(family.children.map(({ labels }) => labels)).toEqual([
      { store: 'b', word: 'x' },
      { store: 'a', word: 'y' },
    ]);
  });

  it('shows no child for a value that is not a number', () => {
    const { settings, show, refused } = setUp();
    const family = new GaugeFamily(GAUGE, settings);
    family.publish('a', [
      { values: ['a', 'x'], value: Number.NaN },
      { values: ['a', 'y'], value: 2 },
    ]);
    expect(show(family)).toEqual([2]);
    expect(refused).toEqual(['g']);
  });
});
