import { CATALOGUE } from '../../../exporter/metrics/catalogue.js';

/** What a lint needs to know of a family. */
export interface KnownFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Label values that are shown as 0 from the family's birth on. */
  readonly seeds: readonly (readonly string[])[];
  readonly buckets: readonly number[];
  readonly source: string;
}

/** Series that Prometheus makes itself. */
const PROMETHEUS: readonly KnownFamily[] = ['up', 'scrape_samples_post_metric_relabeling'].map((name) => ({
  name,
  type: 'gauge',
  labels: [],
  seeds: [],
  buckets: [],
  source: 'prometheus',
}));

/** Every family that rules and runbooks may name. */
export function knownFamilies(): readonly KnownFamily[] {
  const present = CATALOGUE.map(({ name, type, labels, source, ...rest }) => ({
    name,
    type,
    source,
    labels,
    seeds: rest.seeds ?? [],
    buckets: 'buckets' in rest ? rest.buckets : [],
  }));
  return [...present, ...PROMETHEUS];
}

/** The family of a series, by its name or that of its histogram. */
export function familyOf(series: string, families: readonly KnownFamily[]): KnownFamily | undefined {
  const base = series.replace(/_(bucket|sum|count)$/, '');
  return (
    families.find(({ name }) => name === series) ??
    families.find(({ name, type }) => name === base && type === 'histogram')
  );
}
