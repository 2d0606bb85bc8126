import fc from 'fast-check';
import { expect, it } from 'vitest';
import { duration } from '../../../client/events.js';
import { durationText, timeMsText, timeUsText } from '../../../client/number-text.js';

const RUNS = { numRuns: 5000 };

it('a duration is written as its number would be', () => {
  const ms = fc.oneof(
    fc.double({ noNaN: true }),
    fc.double({ min: 0, max: 2000, noNaN: true }),
    fc.integer({ min: 0, max: 2_000_000 }).map((us) => us / 1000),
  );
  fc.assert(
    fc.property(ms, (value) => {
      expect(durationText(value)).toBe(String(duration(value)));
    }),
    RUNS,
  );
});

it.each([
  ['ms', timeMsText],
  ['µs', timeUsText],
])('a time in %s is written as its number would be', (_, write) => {
  const time = fc.oneof(
    fc.maxSafeNat(),
    fc.nat(),
    fc.nat({ max: 2_000_000 }),
    fc.constant(1_790_000_000_000),
  );
  fc.assert(
    fc.property(time, (value) => {
      expect(write(value)).toBe(String(value));
    }),
    RUNS,
  );
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  '%s is written as JSON has it',
  (value) => {
    expect(timeMsText(value)).toBe('null');
    expect(timeUsText(value)).toBe('null');
  },
);

it('a duration that is no number is written as JSON has it', () => {
  expect(durationText(Number.NaN)).toBe('null');
});
