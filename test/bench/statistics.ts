/** Middle of the sorted values; the mean of the two middle ones for an even count. NaN without values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Value below which a share of the values lies, interpolated. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** Ratio of two candidates, round by round. Rounds that only one of them has are left out. */
export function ratios(values: readonly number[], bases: readonly number[]): number[] {
  return values.flatMap((value, at) => {
    const base = bases[at];
    return base === undefined ? [] : [value / base];
  });
}
