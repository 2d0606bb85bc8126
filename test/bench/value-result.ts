import { median, quantile } from './statistics.js';

/** One line of a bench's output whose figure is no ratio. */
export interface ValueResult {
  readonly bench: string;
  readonly case: string;
  /** Median over the rounds. */
  readonly value: number;
  readonly unit: string;
  /** What the value must reach, or not exceed; null: told, not judged. */
  readonly bar: number | null;
  readonly pass: boolean;
  /** First and third quartile of the rounds. */
  readonly spread: readonly [number, number];
  readonly rounds: number;
  readonly [detail: string]: unknown;
}

/** What is measured, and what it must be. */
export interface Target {
  readonly bench: string;
  readonly case: string;
  readonly unit: string;
  readonly bar: number | null;
  readonly direction: 'at_least' | 'at_most';
}

/** Judges the median of the rounds. A case without rounds never passes. */
export function judgeValue(
  { direction, ...target }: Target,
  rounds: readonly number[],
  details: Readonly<Record<string, unknown>> = {},
): ValueResult {
  const value = median(rounds);
  const bar = target.bar ?? value;
  const passes = direction === 'at_least' ? value >= bar : value <= bar;
  return {
    ...target,
    value: tenths(value),
    pass: passes && rounds.length > 0,
    spread: [tenths(quantile(rounds, 0.25)), tenths(quantile(rounds, 0.75))],
    rounds: rounds.length,
    ...details,
  };
}

/** One digit after the point. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
