import { describe, expect, it } from 'vitest';
import { HoldsReport } from '../../../../client/emitter/holds-report.js';
import { MAX_BATCH_HOLDS } from '../../../../contract/batch.js';
import { FakeClock } from '../../../support/clocks.js';
import { hold, range, TestSource } from './test-events.js';

function setUp(held = 0) {
  const source = new TestSource();
  source.held = range(held).map((number) => hold(number));
  const clock = new FakeClock();
  return { source, clock, report: new HoldsReport(source, clock) };
}

describe('HoldsReport', () => {
  it('gives the full set once, also when it is empty, and nothing while the exporter stays the same', () => {
    const { report } = setUp();
    const part = report.take(0);
    expect(part).toMatchObject({ json: '[]', first: true, last: true });
    expect(report.answered(part, 'epoch-1')).toBe(false);
    expect(report.take(0)).toBeUndefined();
    expect(report.answered(undefined, 'epoch-1')).toBe(false);
  });

  it('gives the set again when an answer comes from a new run of the exporter', () => {
    const { report, source } = setUp(1);
    report.answered(report.take(0), 'epoch-1');
    expect(report.answered(undefined, 'epoch-2')).toBe(true);
    source.held = [hold(7)];
    expect(JSON.parse(report.take(0)?.json ?? '')).toEqual([hold(7)]);
  });

  it('does not repeat a set that was delivered to the new run itself', () => {
    const { report } = setUp(1);
    report.answered(report.take(0), 'epoch-1');
    report.invalidate();
    expect(report.answered(report.take(0), 'epoch-2')).toBe(false);
    expect(report.take(0)).toBeUndefined();
  });

  it('gives the set again after each drop', () => {
    const { report } = setUp(1);
    report.take(0);
    expect(report.take(2)?.last).toBe(true);
    expect(report.take(2)).toBeUndefined();
  });

  it('splits a big set by the contract’s limit, as it was when it was begun', () => {
    const { report, source } = setUp(MAX_BATCH_HOLDS * 2 + 1);
    const parts = [report.take(0)];
    source.held = [];
    while (report.unfinished) parts.push(report.take(0));
    const sizes = parts.map((part) => JSON.parse(part?.json ?? '').length);
    expect(sizes).toEqual([MAX_BATCH_HOLDS, MAX_BATCH_HOLDS, 1]);
    expect(parts.map((part) => [part?.first, part?.last])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
  });

  it('finishes a set that a restart of the exporter broke into, and then gives it whole', () => {
    const { report, clock } = setUp(MAX_BATCH_HOLDS + 1);
    report.answered(report.take(0), 'epoch-1');
    const rest = report.take(0);
    expect(rest?.last).toBe(true);
    expect(report.answered(rest, 'epoch-2')).toBe(true);
    clock.jumpMono(1000);
    expect(report.take(0)?.first).toBe(true);
  });

  it('does not let drops bring one big set after the other, which would hold up events and cause more drops', () => {
    const { report, clock } = setUp(MAX_BATCH_HOLDS + 1);
    report.take(0);
    report.take(0);
    expect(report.take(1)).toBeUndefined();
    clock.jumpMono(1000);
    expect(report.take(1)?.first).toBe(true);
  });

  it('asks for holds to travel alone from a refused batch with holds until one passes', () => {
    const { report } = setUp(1);
    report.refused(undefined);
    expect(report.alone).toBe(false);
    report.refused(report.take(0));
    expect(report.alone).toBe(true);
    report.answered(undefined, 'epoch-1');
    expect(report.alone).toBe(true);
    report.answered(report.take(0), 'epoch-1');
    expect(report.alone).toBe(false);
  });
});
