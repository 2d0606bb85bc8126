import { CATALOGUE } from '../../exporter/metrics/catalogue.js';
import { type FamilySpec, METRIC_PREFIX } from '../../exporter/metrics/family-spec.js';
import { plannedSpecs } from './planned-families.js';

/** A family of ours without its prefix: what is in the catalogue or planned. Anything else stops the generator. */
export type FamilyName = string;

/** What a scrape target is known by. A target without the label `cluster` or `namespace` fits `.*` as well. */
const TARGET = ['job', 'instance', 'cluster', 'namespace'] as const;

const matchersOf = (labels: readonly string[]) => labels.map((label) => `${label}=~"$${label}"`);

/**
 * A selector of one family with a matcher for each variable that it has a label for: the target's always, `store`
 * and `resource` where the family is labelled so. `more` are further matchers.
 */
export function family(name: FamilyName, ...more: string[]): string {
  return selector(METRIC_PREFIX + name, specOf(name).labels, more);
}

/** {@link family} for the series of a histogram's buckets. */
export function buckets(name: FamilyName, ...more: string[]): string {
  return selector(`${METRIC_PREFIX}${name}_bucket`, specOf(name).labels, more);
}

/** {@link family} for the count of a histogram's observations. */
export function counts(name: FamilyName, ...more: string[]): string {
  return selector(`${METRIC_PREFIX}${name}_count`, specOf(name).labels, more);
}

/** {@link family} for the sum of a histogram's observations. */
export function sums(name: FamilyName, ...more: string[]): string {
  return selector(`${METRIC_PREFIX}${name}_sum`, specOf(name).labels, more);
}

/** A selector of the scrape itself or of the process: `up`, `process_resident_memory_bytes`. */
export function target(name: string, ...more: string[]): string {
  return selector(name, [], more);
}

/** Labels that a recording rule keeps, by the level its name starts with. None has an instance. */
const LEVELS = {
  job: ['job', 'cluster', 'namespace'],
  resource: ['job', 'cluster', 'namespace', 'store', 'resource'],
} as const;

/** A selector of a recording rule: `resource:redis_lock_busy:peak_hour1d`. A test holds the name against the rules. */
export function recorded(name: `${keyof typeof LEVELS}:${string}`): string {
  const labels = name.startsWith('job:') ? LEVELS.job : LEVELS.resource;
  return `${name}{${matchersOf(labels).join(', ')}}`;
}

/**
 * Firing alerts of this project. Not every alert has an instance, a store or a resource, and one that lacks the
 * label must still be seen when the variable is narrowed down: the empty alternative matches what is missing.
 */
export function alerts(): string {
  const own = ['alertname=~"RedisLock.*"', 'alertstate="firing"', 'cluster=~"$cluster|"'];
  const bridged = ['namespace', 'job', 'instance', 'store', 'resource'].map(
    (label) => `${label}=~"$${label}|"`,
  );
  return `ALERTS{${[...own, ...bridged].join(', ')}}`;
}

/** The largest finite bucket: a quantile that reaches it may in truth be anything above. */
export function largestBucket(name: FamilyName): number {
  const spec = specOf(name);
  return spec.type === 'histogram' ? Math.max(...spec.buckets) : Number.POSITIVE_INFINITY;
}

function selector(name: string, labels: readonly string[], more: readonly string[]): string {
  const own = ['store', 'resource'].filter((label) => labels.includes(label));
  return `${name}{${[...matchersOf([...TARGET, ...own]), ...more].join(', ')}}`;
}

/** @throws Error for a name that is neither in the catalogue nor planned. */
function specOf(name: FamilyName): FamilySpec {
  const spec = [...CATALOGUE, ...plannedSpecs()].find((row) => row.name === METRIC_PREFIX + name);
  if (!spec) throw new Error(`no family is called ${METRIC_PREFIX}${name}`);
  return spec;
}
