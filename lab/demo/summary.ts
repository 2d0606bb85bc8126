/** One scrape. */
export interface Sample {
  /** Monotonic, in ms. */
  readonly atMs: number;
  /** Value by series, as the text format names it. */
  readonly series: ReadonlyMap<string, number>;
}

/** Labels that a series must have, by name. */
type Match = Readonly<Record<string, string>>;

/** Reads `/metrics`; undefined when the exporter does not answer: no sample is not a sample of zeros. */
export async function readSample(metricsUrl: string): Promise<Sample | undefined> {
  try {
    const response = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(2000) });
    return { atMs: performance.now(), series: parseText(await response.text()) };
  } catch {
    return undefined;
  }
}

/** Reads the text exposition format; comments and what is not a number are left out. */
export function parseText(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const pairs = lines.map((line): [string, number] => {
    const at = line.lastIndexOf(' ');
    return [line.slice(0, at), Number(line.slice(at + 1))];
  });
  return new Map(pairs.filter(([, value]) => Number.isFinite(value)));
}

/** One line with the four numbers that matter most: rates between two samples, then totals since the start, then what is now. */
export function summarise(before: Sample, now: Sample): string {
  const seconds = (now.atMs - before.atMs) / 1000;
  const grown = (name: string, match: Match = {}) => sum(now, name, match) - sum(before, name, match);
  const attempts = grown('redis_lock_acquire_total');
  // A contended try is a normal answer.
  const contended = grown('redis_lock_acquire_failures_total', { mode: 'try', reason: 'contended' });
  const failures = grown('redis_lock_acquire_failures_total') - contended;
  const rates = [
    `${(attempts / seconds).toFixed(1)} acquires/s`,
    `${percent(failures, attempts)} failed`,
    `hold P99 ${holdP99(before, now)}`,
    `${(grown('redis_lock_renewals_total') / seconds).toFixed(1)} renewals/s`,
  ];
  const totals = [
    `${sum(now, 'redis_lock_release_not_owned_total')} releases found the lock gone`,
    `${sum(now, 'redis_lock_lost_total')} leases lost`,
    `${sum(now, 'redis_lock_overlaps_total')} overlaps`,
  ];
  return [
    `last ${seconds.toFixed(0)} s: ${rates.join(', ')}`,
    `since the start: ${totals.join(', ')}`,
    `now: ${sum(now, 'redis_lock_keys')} lock keys`,
  ].join(' · ');
}

/** Sum over the series of a family. */
function sum(sample: Sample, name: string, match: Match = {}): number {
  let total = 0;
  for (const [series, value] of sample.series) {
    const ours = series === name || series.startsWith(`${name}{`);
    if (ours && Object.entries(match).every(([label, wanted]) => series.includes(`${label}="${wanted}"`)))
      total += value;
  }
  return total;
}

/** Upper bound of the bucket that holds the 99th percentile of hold ÷ lease, fixed leases only. */
function holdP99(before: Sample, now: Sample): string {
  const family = 'redis_lock_hold_lease_ratio_bucket';
  const bounds = new Set(
    [...now.series.keys()]
      .filter((series) => series.startsWith(family))
      .flatMap((series) => /le="([^"]+)"/.exec(series)?.[1] ?? []),
  );
  const counts = [...bounds].map((le) => {
    const match = { le, renewed: 'false' };
    return {
      le,
      bound: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le),
      count: sum(now, family, match) - sum(before, family, match),
    };
  });
  counts.sort((a, b) => a.bound - b.bound);
  const total = counts.at(-1)?.count ?? 0;
  if (total === 0) return 'unknown';
  const { bound = Number.POSITIVE_INFINITY } = counts.find(({ count }) => count >= 0.99 * total) ?? {};
  if (bound !== Number.POSITIVE_INFINITY) return `≤ ${bound} × lease`;
  return `> ${counts.at(-2)?.bound ?? 0} × lease`;
}

function percent(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(0)} %` : 'nothing';
}
