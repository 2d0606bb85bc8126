import { median, quantile } from './statistics.js';

/** One line of a bench's output. */
export interface BenchResult {
  readonly bench: string;
  readonly case: string;
  /** Median over the rounds; a round's ratio compares turns that were seconds apart. */
  readonly ratio: number;
  /** What the ratio must reach; null: told, not judged. */
  readonly bar: number | null;
  readonly pass: boolean;
  /** First and third quartile of the rounds' ratios: how far the median is to be trusted. */
  readonly spread: readonly [number, number];
  readonly rounds: number;
  readonly [detail: string]: unknown;
}

/** What a ratio must do to pass: reach the bar, or stay at or below it. */
export type Direction = 'at_least' | 'at_most';

/** Judges the ratios of one case against its bar. A case without ratios never passes. */
export function judge(
  bench: string,
  name: string,
  rounds: readonly number[],
  bar: number | null,
  details: Readonly<Record<string, unknown>> = {},
  direction: Direction = 'at_least',
): BenchResult {
  const ratio = median(rounds);
  const passes = direction === 'at_least' ? ratio >= (bar ?? 0) : ratio <= (bar ?? Number.POSITIVE_INFINITY);
  return {
    bench,
    case: name,
    ratio: round(ratio),
    bar,
    pass: passes && rounds.length > 0,
    spread: [round(quantile(rounds, 0.25)), round(quantile(rounds, 0.75))],
    rounds: rounds.length,
    ...details,
  };
}

/** Three digits after the point: more would be noise. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
