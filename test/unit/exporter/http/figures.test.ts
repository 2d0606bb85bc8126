import { expect, it } from 'vitest';
import { roundFigures } from '../../../../exporter/http/figures.js';

it('milliseconds are shown to the microsecond, ratios to four decimals, at any depth', () => {
  const answer = {
    lengthMs: 405.87800000000004,
    hot: [{ busyRatio: 0.123456789, meanHoldMs: null, attempts: 5e-324 }],
    endedAtMs: 1_796_000_000_000.1235,
  };
  expect(roundFigures(answer)).toEqual({
    lengthMs: 405.878,
    hot: [{ busyRatio: 0.1235, meanHoldMs: null, attempts: 0 }],
    endedAtMs: 1_796_000_000_000.124,
  });
});

it('whole numbers, texts, null and what is missing stay as they are', () => {
  const answer = { grantUs: 1_796_000_000_000_001, owner: 'a', other: null, ok: true, gone: undefined };
  expect(roundFigures(answer)).toEqual(answer);
  expect(roundFigures(undefined)).toBeUndefined();
});
