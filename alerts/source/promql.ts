/** Labels that every aggregation keeps, so that routing and inhibition go on matching. */
export const JOB = 'cluster, namespace, job';
export const INSTANCE = `${JOB}, instance`;
export const STORE = `${JOB}, store`;
export const RESOURCE = `${STORE}, resource`;

/** Seconds as Prometheus writes them: 300 → `5m`, 90 → `90s`, 1.5 → `1500ms`. */
export function duration(seconds: number): string {
  const ms = Math.max(1, Math.round(seconds * 1000));
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const) {
    if (ms % size === 0 && (unit !== 'd' || ms > size)) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

/** `sum by (…) (increase(redis_lock_X[window]))`: what comes from events is summed over exporters, after the increase. */
export function increases(counter: string, window: number, by = RESOURCE): string {
  return `sum by (${by}) (increase(redis_lock_${counter}[${duration(window)}]))`;
}

/** As `increases`, per second. */
export function rates(counter: string, window: number, by = RESOURCE): string {
  return `sum by (${by}) (rate(redis_lock_${counter}[${duration(window)}]))`;
}

/** A gauge over the last `bridge` seconds, so that a failed scrape does not end `for`. */
export function bridged(gauge: string, bridge: number): string {
  return `max_over_time(redis_lock_${gauge}[${duration(bridge)}])`;
}

/**
 * One sum divided by another. Without traffic it has no value; without the numerator's series it is 0.
 * Both sides must have the same labels.
 */
export function ratio(numerator: string, denominator: string): string {
  return `(\n  ${indent(orZero(numerator, denominator))}\n)\n/\n(${denominator} > 0)`;
}

/** The expression, or 0 for each series of `other` that it lacks. */
export function orZero(expression: string, other: string): string {
  return `${expression}\nor\n0 * ${other}`;
}

/** The q-quantile of a histogram over a window, per resource. `selector` names its buckets. */
export function quantile(q: number, selector: string, window: number): string {
  return `histogram_quantile(${q}, ${rates(selector, window, `${RESOURCE}, le`)})`;
}

/** Policies of resources, as they were within the last `window`. `labels` is a matcher such as `kind="leader"`. */
export function policy(labels: string, window: number): string {
  return `on (${RESOURCE}) last_over_time(redis_lock_resource_info{${labels}}[${duration(window)}])`;
}

/** All lines but the first, two spaces further right. */
export function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
