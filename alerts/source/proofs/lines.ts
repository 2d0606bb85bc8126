/** Minutes of every proof: long enough for an hour's window, the wait of half an hour and what follows. */
export const MINUTES = 150;

/** The minute in which the fault of a proof begins. Before it, an hour of calm. */
export const ONSET = 70;

/** One series: its value at each minute, `undefined` where there is no sample. */
export interface Line {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly Sample[];
}

/** A value, no sample (`_`), or a failed scrape (`stale`). */
export type Sample = number | '_' | 'stale';

type PerMinute = (minute: number) => number;
type Labels = Readonly<Record<string, string>>;

/** Where the series of the proofs come from. */
export const TARGET: Labels = {
  cluster: 'eu1',
  namespace: 'shop',
  job: 'redis-lock',
  instance: '10.0.0.1:9722',
};
export const AT_STORE: Labels = { ...TARGET, store: 'main' };
export const AT_RESOURCE: Labels = { ...AT_STORE, resource: 'stock' };

/** `calm` before the onset, `bad` from it on, and `calm` again from `end` on. */
export function fault(calm: number, bad: number, end = MINUTES): PerMinute {
  return (minute) => (minute >= ONSET && minute < end ? bad : calm);
}

/** `times` in the minute of the onset, else nothing. */
export function once(times = 1, at = ONSET): PerMinute {
  return (minute) => (minute === at ? times : 0);
}

/** A counter that starts at 0 and grows by `growth` in each minute. */
export function counter(metric: string, labels: Labels, growth: PerMinute): Line {
  let value = 0;
  return gauge(metric, labels, (minute) => {
    if (minute > 0) value += growth(minute);
    return value;
  });
}

/** A gauge with its value at each minute. */
export function gauge(metric: string, labels: Labels, value: PerMinute): Line {
  const values = Array.from({ length: MINUTES + 1 }, (_, minute) => round(value(minute)));
  return { metric, labels, values };
}

/** A histogram: how many observations a minute fall at or below each bound; the last one is `+Inf`, and the count. */
export function histogram(
  family: string,
  labels: Labels,
  growth: Readonly<Record<string, PerMinute>>,
): Line[] {
  const buckets = Object.entries(growth).map(([le, per]) =>
    counter(`${family}_bucket`, { ...labels, le }, per),
  );
  const all = growth['+Inf'];
  return all ? [...buckets, counter(`${family}_count`, labels, all)] : buckets;
}

/** The line without one label. */
export function withoutLabel(line: Line, label: string): Line {
  const { [label]: _, ...labels } = line.labels;
  return { ...line, labels };
}

/** The line with failed scrapes in these minutes: the first is marked stale, in the others there is no sample. */
export function withGap(line: Line, from: number, minutes: number): Line {
  const gap = (minute: number): Sample => (minute === from ? 'stale' : '_');
  return withValues(line, (value, minute) =>
    minute >= from && minute < from + minutes ? gap(minute) : value,
  );
}

/** The line of an exporter that restarts in this minute: a counter begins again at 0, a gauge misses one scrape. */
export function withRestart(line: Line, at: number): Line {
  const before = line.values[at - 1];
  if (!isCounter(line) || typeof before !== 'number') return withGap(line, at, 1);
  return withValues(line, (value, minute) =>
    minute < at || typeof value !== 'number' ? value : round(value - before),
  );
}

/** The line as it would be if nothing happened from the first minute on. */
export function withoutTraffic(line: Line): Line {
  return isCounter(line) ? withValues(line, () => line.values[0] ?? '_') : line;
}

/** Counters and the parts of histograms, by the names that Prometheus gives them. */
export function isCounter(line: Line): boolean {
  return /_(total|bucket|count|sum)$/.test(line.metric);
}

function withValues(line: Line, change: (value: Sample, minute: number) => Sample): Line {
  return { ...line, values: line.values.map(change) };
}

/** The notation of promtool: `0x69 1x80`, `0+4x150`, `_x5 stale`. */
export function toNotation(values: readonly Sample[]): string {
  const parts: string[] = [];
  for (let start = 0; start < values.length; ) {
    const run = runAt(values, start);
    parts.push(run.text);
    start += run.length;
  }
  return parts.join(' ');
}

function runAt(values: readonly Sample[], start: number): { text: string; length: number } {
  const first = values[start];
  if (typeof first !== 'number') return runOfWords(values, start, first ?? '_');
  const second = values[start + 1];
  if (typeof second !== 'number') return { text: String(first), length: 1 };
  const step = round(second - first);
  let length = 2;
  while (isStep(values[start + length - 1], values[start + length], step)) length += 1;
  // A jump belongs to the run that follows it.
  if (length === 2 && step !== 0) return { text: String(first), length: 1 };
  const growth = step === 0 ? '' : step > 0 ? `+${step}` : `${step}`;
  return { text: `${first}${growth}x${length - 1}`, length };
}

function runOfWords(
  values: readonly Sample[],
  start: number,
  word: '_' | 'stale',
): { text: string; length: number } {
  let length = 1;
  while (word === '_' && values[start + length] === '_') length += 1;
  return { text: word === '_' ? `_x${length}` : word, length };
}

function isStep(from: Sample | undefined, to: Sample | undefined, step: number): boolean {
  return typeof from === 'number' && typeof to === 'number' && round(to - from) === step;
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
