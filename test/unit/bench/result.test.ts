import { describe, expect, it } from 'vitest';
import { judge } from '../../bench/result.js';
import { median, quantile, ratios } from '../../bench/statistics.js';

describe('the result of a bench', () => {
  it('is the median of the rounds, with its quartiles, so that one disturbed round decides nothing', () => {
    expect(judge('client', 'a', [0.8, 0.01, 0.9, 0.7, 0.85], 0.8)).toMatchObject({
      ratio: 0.8,
      pass: true,
      spread: [0.7, 0.85],
      rounds: 5,
    });
  });

  it('misses a bar that it does not reach', () => {
    expect(judge('client', 'a', [0.799], 0.8).pass).toBe(false);
    expect(judge('sampler', 'a', [1.3], 1.25, {}, 'at_most').pass).toBe(false);
  });

  it('misses its bar when nothing was measured', () => {
    expect(judge('client', 'a', [], 0.8).pass).toBe(false);
    expect(judge('client', 'a', [], null).pass).toBe(false);
  });

  it('passes without a bar', () => {
    expect(judge('client', 'a', [0.1], null)).toMatchObject({ bar: null, pass: true });
  });
});

describe('the statistics of a bench', () => {
  it('take the middle of an even number of values', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(quantile([0, 10], 0.25)).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it('compare round by round', () => {
    expect(ratios([1, 2, 3], [2, 2, 2])).toEqual([0.5, 1, 1.5]);
    expect(ratios([1, 2, 3], [2])).toEqual([0.5]);
  });
});
