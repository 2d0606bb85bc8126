import { CATALOGUE } from '../../exporter/metrics/catalogue.js';
import type { FamilySpec } from '../../exporter/metrics/family-spec.js';
import { code, page, table } from './markdown.js';

/** `docs/reference/metrics.md`: the catalogue. */
export function metricsPage(): string {
  return page(
    'Metrics',
    `Counters and histograms that do not come from the exporter itself are shown as 0 for ${code('--first-increment-hold')} after their birth, so that ${code('increase()')} sees the first increments. **eager** families appear with a resource’s (or the process’s) first sign, **lazy** ones with the first use of the feature.`,
    table(['name', 'type', 'unit', 'labels', 'from', 'birth', 'stability', 'meaning'], CATALOGUE.map(row)),
    '## Seeded label values',
    'These children are born together with their family, as 0.',
    table(['name', 'labels', 'values'], CATALOGUE.flatMap(seedRow)),
    '## Buckets',
    table(['name', 'upper bounds'], CATALOGUE.flatMap(bucketRow)),
  );
}

function row(spec: FamilySpec): string[] {
  const { name, type, unit, labels, source, birth, stability, help } = spec;
  return [code(name), type, unit, labels.map(code).join(', '), source, birth, stability, help];
}

function seedRow({ name, labels, seeds }: FamilySpec): string[][] {
  if (!seeds || seeds.length === 0) return [];
  const own = labels.filter((label) => label !== 'store' && label !== 'resource');
  return [[code(name), own.map(code).join(', '), seeds.map((values) => code(values.join(' '))).join(', ')]];
}

function bucketRow(spec: FamilySpec): string[][] {
  return spec.type === 'histogram' ? [[code(spec.name), spec.buckets.join(', ')]] : [];
}
