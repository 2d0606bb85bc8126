import { buckets, type FamilyName, largestBucket } from './metrics.js';

/** Labels that one line of a graph is about. */
export type By = readonly string[];

/** What a lock is known by in graphs. */
export const BY_RESOURCE = ['store', 'resource'] as const;

/** Per second, over a window that always spans at least four scrapes. */
export function rate(selector: string): string {
  return `rate(${selector}[$__rate_interval])`;
}

/** Additions within each step of a graph. */
export function increase(selector: string): string {
  return `increase(${selector}[$__rate_interval])`;
}

/** Additions within the whole time shown. */
export function increaseShown(selector: string): string {
  return `increase(${selector}[$__range])`;
}

/** A sum, after the rate: a restart of one exporter is then no spike. */
export function sumBy(by: By, expression: string): string {
  return by.length === 0 ? `sum(${expression})` : `sum by (${by.join(', ')}) (${expression})`;
}

/** The largest, by labels. */
export function maxBy(by: By, expression: string): string {
  return by.length === 0 ? `max(${expression})` : `max by (${by.join(', ')}) (${expression})`;
}

/** The smallest, by labels. */
export function minBy(by: By, expression: string): string {
  return by.length === 0 ? `min(${expression})` : `min by (${by.join(', ')}) (${expression})`;
}

/** What several exporters see in the same Redis, counted once. */
export function sampledOnce(selector: string): string {
  return `max without (instance, pod) (${selector})`;
}

/**
 * A quantile over the buckets of a family. Without any observation there is no result instead of NaN: nothing
 * compares with NaN.
 */
export function quantile(q: number, name: FamilyName, by: By = [], ...more: string[]): string {
  return `histogram_quantile(${q}, ${sumBy([...by, 'le'], rate(buckets(name, ...more)))}) >= 0`;
}

/** {@link quantile} over the whole time shown. */
export function quantileShown(q: number, name: FamilyName, by: By = [], ...more: string[]): string {
  return `histogram_quantile(${q}, ${sumBy([...by, 'le'], increaseShown(buckets(name, ...more)))}) >= 0`;
}

/** {@link quantile} only where it sits at the largest bucket: what is true may be anything above. */
export function saturatedQuantile(q: number, name: FamilyName, by: By = [], ...more: string[]): string {
  return quantile(q, name, by, ...more).replace(/>= 0$/, `>= ${largestBucket(name)}`);
}

/** A share with equal labels on both sides; no result where there was no traffic, 0 where nothing was found. */
export function share(part: string, whole: string): string {
  return `(${part} or 0 * ${whole}) / (${whole} > 0)`;
}

/** A share of one total, by the labels of the part; no result where there was no traffic. */
export function shareOfTotal(part: string, total: string): string {
  return `${part} / on () group_left () (${total} > 0)`;
}
