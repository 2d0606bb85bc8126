import { dailyRules, recordingRules } from '../../../alerts/source/recording-rules.js';
import { DEFAULT_OPTIONS } from '../../../alerts/source/rule.js';
import { plannedSpecs } from '../../../dashboards/source/planned-families.js';
import { CATALOGUE } from '../../../exporter/metrics/catalogue.js';
import type { FamilySpec } from '../../../exporter/metrics/family-spec.js';

const SCRAPED = { source: 'exporter', birth: 'eager', stability: 'stable', help: '' } as const;

/** What Prometheus itself adds to each scrape. */
const OF_PROMETHEUS: readonly FamilySpec[] = [
  { ...SCRAPED, name: 'up', type: 'gauge', unit: 'boolean', labels: [] },
  { ...SCRAPED, name: 'scrape_duration_seconds', type: 'gauge', unit: 'seconds', labels: [] },
  { ...SCRAPED, name: 'scrape_samples_scraped', type: 'gauge', unit: 'count', labels: [] },
  { ...SCRAPED, name: 'scrape_samples_post_metric_relabeling', type: 'gauge', unit: 'count', labels: [] },
  {
    ...SCRAPED,
    name: 'ALERTS',
    type: 'gauge',
    unit: 'info',
    labels: ['alertname', 'alertstate', 'severity', 'store', 'resource'],
  },
];

/** Labels that every target may have. */
export const TARGET_LABELS = ['job', 'instance', 'cluster', 'namespace', 'pod'] as const;

/** A family by the name of one of its series, histograms' included. */
export function familyOf(series: string): FamilySpec | undefined {
  const all = [...CATALOGUE, ...plannedSpecs(), ...OF_PROMETHEUS];
  const base = series.replace(/_(bucket|sum|count)$/, '');
  return (
    all.find(({ name }) => name === series) ??
    all.find(({ name, type }) => name === base && type === 'histogram')
  );
}

/** The expression of a recording rule, or undefined when no rule has the name. */
export function ruleOf(record: string): string | undefined {
  const rules = [...recordingRules(DEFAULT_OPTIONS).rules, ...dailyRules().rules];
  return rules.find((rule) => rule.record === record)?.expr;
}

/** A counter, or a series of a histogram: what must be seen through rate or increase. */
export function isCumulative(series: string): boolean {
  const family = familyOf(series);
  return family?.type === 'counter' || family?.type === 'histogram';
}
