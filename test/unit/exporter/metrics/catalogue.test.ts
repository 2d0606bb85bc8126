import { describe, expect, it } from 'vitest';
import { ACQUIRE_FAILURE_REASONS, ACQUIRE_MODES, REDIS_REASONS } from '../../../../contract/outcomes.js';
import { BATCH_RESULTS, REJECT_REASONS } from '../../../../contract/refusals.js';
import { CATALOGUE } from '../../../../exporter/metrics/catalogue.js';
import { EVENT_FAMILIES } from '../../../../exporter/metrics/catalogue-events.js';
import { EXPORTER_FAMILIES } from '../../../../exporter/metrics/catalogue-exporter.js';
import {
  LEFT_OUT_PROCESS_FAMILIES,
  PROCESS_FAMILIES,
} from '../../../../exporter/metrics/catalogue-process.js';
import type { FamilySpec } from '../../../../exporter/metrics/family-spec.js';
import { createProcessRegistry } from '../../../../exporter/metrics/process-families.js';
import { exampleBatch } from '../../../contract/examples.js';
import { makeMetrics, readPage } from './page-reader.js';

const OWN = CATALOGUE.filter(({ name }) => name.startsWith('redis_lock_'));
const SUFFIX: Record<FamilySpec['unit'], RegExp> = {
  seconds: /_seconds$/,
  timestamp_seconds: /_timestamp_seconds$/,
  ratio: /_ratio$/,
  count: /^(?!.*_(seconds|ratio|bytes|info)$)/,
  boolean: /(_up|_truncated)$/,
  info: /_info$/,
  bytes: /_bytes$/,
};

describe('the catalogue', () => {
  it('names every family once', () => {
    const names = CATALOGUE.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(OWN)('$name: name, help and labels follow the conventions', (spec) => {
    expect(spec.name).toMatch(/^redis_lock_[a-z]+(_[a-z]+)*$/);
    expect(spec.name.endsWith('_total')).toBe(spec.type === 'counter');
    expect(spec.name).toMatch(SUFFIX[spec.unit]);
    expect(spec.help).toMatch(/^["A-Z0-9].{20,}\.$/s);
    if (spec.source !== 'exporter') expect(spec.labels[0]).toBe('store');
    expect(spec.labels.indexOf('resource')).toBeLessThanOrEqual(1);
    expect(new Set(spec.labels).size).toBe(spec.labels.length);
  });

  it.each(OWN)('$name: every seed gives a value to each of the own labels', (spec) => {
    const own = spec.labels.filter((label) => label !== 'store' && label !== 'resource');
    for (const seed of spec.seeds ?? []) expect(seed).toHaveLength(own.length);
    if (own.length === 0) expect(spec.seeds).toBeUndefined();
  });

  it.each(OWN.filter((spec) => spec.type === 'histogram'))(
    '$name: buckets rise, none of a ratio is 1',
    (spec) => {
      if (spec.type !== 'histogram') throw new Error('filtered above');
      expect(spec.buckets).toEqual([...spec.buckets].sort((a, b) => a - b));
      expect(new Set(spec.buckets).size).toBe(spec.buckets.length);
      if (spec.unit === 'ratio') expect(spec.buckets).not.toContain(1);
    },
  );

  it('lets quantiles of the lease ratios pass every threshold: 0.8, 1 and far beyond', () => {
    const { buckets } = EVENT_FAMILIES.hold_lease_ratio;
    expect(Math.max(...buckets)).toBeGreaterThanOrEqual(5);
    expect(buckets).toContain(0.8);
    expect(buckets.filter((bound) => bound > 0.8 && bound < 1.3).length).toBeGreaterThanOrEqual(4);
  });

  it('seeds only words that the contract knows', () => {
    for (const [mode, reason] of EVENT_FAMILIES.acquire_failures_total.seeds) {
      expect(ACQUIRE_MODES).toContain(mode);
      expect(ACQUIRE_FAILURE_REASONS).toContain(reason);
    }
    for (const [reason] of EVENT_FAMILIES.release_failures_total.seeds)
      expect(REDIS_REASONS).toContain(reason);
  });

  it('seeds exactly the words of ingest', () => {
    expect(EXPORTER_FAMILIES.exporter_batches_total.seeds.flat()).toEqual([...BATCH_RESULTS]);
    expect(EXPORTER_FAMILIES.exporter_events_rejected_total.seeds.flat()).toEqual([...REJECT_REASONS]);
  });
});

describe('the page and the catalogue agree', () => {
  it('on families, types, help texts and labels, in both directions', async () => {
    const policy = { kind: 'cron', page: true, expiry: 'required', events: 'expected', intervalMs: 60_000 };
    const byResource = new Map([['nightly', policy]]);
    const metrics = makeMetrics({ policies: { store: 'default', byResource, byDefault: policy } });
    for (const event of exampleBatch().events) metrics.recordEvent(event, 'default');
    metrics.publishSample({
      store: 'default',
      takenAtMs: 1_796_000_000_000,
      durationMs: 12,
      truncated: false,
      resources: [
        {
          resource: 'stock',
          keys: 3,
          withoutExpiry: 1,
          earliestExpiryMs: 1_796_000_001_000,
          latestExpiryMs: 1_796_000_002_000,
          oldestHoldS: 4,
        },
      ],
    });
    for (const kind of ['ghost_holder', 'zombie_renewal', 'fence_regression'] as const)
      metrics.recordFinding({ kind, store: 'default', resource: 'stock' });
    metrics.recordFinding({ kind: 'abandoned', takenOver: true, store: 'default', resource: 'stock' });
    metrics.recordFinding({ kind: 'overlap_end', store: 'default', resource: 'stock', lengthMs: 1500 });
    metrics.publishHolders('default', [{ resource: 'stock', holders: 3, unsure: 1 }]);
    metrics.publishStandings('default', [{ resource: 'stock', foreign: 2, orphans: 1 }]);
    const hot = { attempts: 12, contendedRatio: 0.5, busyRatio: 0.75, meanHoldMs: 1500 };
    metrics.publishHotLocks('default', [{ resource: 'stock', lock: '0123456789abcdef', ...hot }]);
    metrics.recordEvent({ ...exampleReleaseOfRenewed(), holdMs: Number.NaN }, 'default');
    expect(familiesOn(await readPage(metrics))).toEqual(
      OWN.map(({ name, type, help, labels }) => ({
        name,
        type,
        help: escapeHelp(help),
        labels: [...labels].sort(),
      })).map(
        // Nothing failed to render.
        (family) => (family.name.endsWith('render_errors_total') ? { ...family, labels: [] } : family),
      ),
    );
  });

  it.runIf(process.platform === 'linux')('on the process defaults, taken from prom-client as it is', () => {
    const registered = createProcessRegistry().getMetricsAsArray() as unknown as {
      name: string;
      help: string;
      type: string;
      labelNames: string[];
    }[];
    expect(
      registered.map(({ name, help, type, labelNames }) => ({ name, help, type, labels: labelNames })),
    ).toEqual(PROCESS_FAMILIES.map(({ name, help, type, labels }) => ({ name, help, type, labels })));
    for (const name of LEFT_OUT_PROCESS_FAMILIES)
      expect(registered.map((family) => family.name)).not.toContain(name);
  });
});

function exampleReleaseOfRenewed() {
  const release = exampleBatch().events.find((event) => event.kind === 'release');
  if (release?.kind !== 'release') throw new Error('the example batch has no release');
  return { ...release, renewals: 3 };
}

interface FamilyOnPage {
  name: string;
  type: string;
  help: string;
  labels: string[];
}

function familiesOn(page: string): FamilyOnPage[] {
  const families: FamilyOnPage[] = [];
  for (const line of page.trim().split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    const last = families.at(-1);
    if (kind === 'HELP') families.push({ name, type: '', help: rest, labels: [] });
    else if (kind === 'TYPE' && last) last.type = rest;
    else if (last) last.labels = [...new Set([...last.labels, ...labelsIn(line)])].sort();
  }
  return families;
}

function labelsIn(line: string): string[] {
  return [...line.matchAll(/[{,]([a-z_]+)="/g)]
    .map(([, label = '']) => label)
    .filter((label) => label !== 'le');
}

function escapeHelp(help: string): string {
  return help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
}
