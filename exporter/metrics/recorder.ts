import { prometheusContentType } from 'prom-client';
import type { Clock } from '../../contract/clock.js';
import { DEFAULT_RESOURCE_CAP } from '../../contract/resource.js';
import { EVENT_FAMILIES } from './catalogue-events.js';
import { EXPORTER_FAMILIES } from './catalogue-exporter.js';
import { HOT_FAMILIES, LEDGER_FAMILIES } from './catalogue-ledger.js';
import { POLICY_FAMILIES } from './catalogue-policy.js';
import { SAMPLE_FAMILIES } from './catalogue-sample.js';
import { createFamilies, type FamilySettings } from './families.js';
import { createIngestCounters, type ExporterFamilies } from './ingest-counters.js';
import { BoundedNames } from './label-names.js';
import { LedgerSeries } from './ledger-series.js';
import { type PageParts, renderPage } from './page.js';
import type { Metrics, ResourcePolicy } from './ports.js';
import { createProcessRegistry } from './process-families.js';
import { recordEvent } from './record-event.js';
import { type PolicyFamilies, ResourceInfo } from './resource-info.js';
import { ResourceTable } from './resource-table.js';
import { SampledGauges, type SampleFamilies } from './sampled-gauges.js';
import { WordCounter } from './word-counter.js';

/** One minute: no usual scrape interval is longer, so a newborn's 0 was surely scraped. */
export const DEFAULT_FIRST_INCREMENT_HOLD_MS = 60_000;

/** How {@link createMetrics} is set up. */
export interface MetricsOptions {
  clock: Clock;
  /** The exporter's version, for `exporter_build_info`. */
  version: string;
  /**
   * How long a newborn counter or histogram shows 0. At least the longest scrape interval; 0 turns it off.
   * Default {@link DEFAULT_FIRST_INCREMENT_HOLD_MS}.
   */
  firstIncrementHoldMs?: number;
  /** Pairs of store and resource with series of their own. Default 200. */
  resourceCap?: number;
  /** Policies by resource, of the one store that this exporter serves, and the one for all others. */
  policies?: { store: string; byResource: ReadonlyMap<string, ResourcePolicy>; byDefault: ResourcePolicy };
  /** Add Node's process defaults to the page. Default true. Each true starts watches that last with the process. */
  processMetrics?: boolean;
}

/**
 * Makes all families, empty but for the exporter's own zeros, and the ways to fill and render them. Several may
 * live in one process; none touches prom-client's global registry.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { clock, version, resourceCap = DEFAULT_RESOURCE_CAP, processMetrics = true } = options;
  const holdMs = options.firstIncrementHoldMs ?? DEFAULT_FIRST_INCREMENT_HOLD_MS;
  const settings: FamilySettings = {
    nowMs: () => clock.monoMs(),
    firstIncrementHoldMs: holdMs,
    onRefused: (family) => refusals.inc(family),
  };
  const own = createOwnFamilies(settings, version);
  const refusals = new WordCounter(own.exporter_values_refused_total);
  const renderErrors = new WordCounter(own.exporter_render_errors_total);
  const events = createFamilies(EVENT_FAMILIES, settings);
  const samples: SampleFamilies = createFamilies(SAMPLE_FAMILIES, settings);
  const overflows = new WordCounter(own.exporter_label_overflow_total);
  const names = new BoundedNames(resourceCap, (label) => overflows.inc(label));
  const policies = createFamilies(POLICY_FAMILIES, settings);
  const info = createResourceInfo(policies, names, options.policies);
  const ledger = createFamilies(LEDGER_FAMILIES, settings);
  const hot = createFamilies(HOT_FAMILIES, settings);
  const series = new LedgerSeries({ ledger, hot, foreignKeys: samples.foreign_keys }, names);
  const evicted = new WordCounter(own.exporter_ledger_evicted_total);
  const table = new ResourceTable(events, names, info, (fresh) => series.bear(fresh));
  const gauges = new SampledGauges(samples, names, info);
  const refused = {
    metrics: new WordCounter(own.exporter_requests_refused_total, ['metrics']),
    local: new WordCounter(own.exporter_requests_refused_total, ['local']),
  };
  const resources = own.exporter_resources.child([]);
  const page: PageParts = {
    families: [events, samples, ledger, hot, policies, own].flatMap((families) => Object.values(families)),
    processRegistry: processMetrics ? createProcessRegistry() : undefined,
    onRenderError: (family) => renderErrors.inc(family),
  };
  const wallMs = () => clock.wallMs();
  return {
    counters: createIngestCounters(own),
    contentType: prometheusContentType,
    recordEvent: (event, store) => recordEvent(table.slot(store, event.resource), event, wallMs),
    recordFinding: (finding) => series.count(finding, table.slot(finding.store, finding.resource)),
    publishHolders: (store, counts) => series.publishHolders(store, counts),
    publishStandings: (store, standings) => series.publishStandings(store, standings),
    publishHotLocks: (store, locks) => series.publishHotLocks(store, locks),
    countEvicted: (tableName, count) => void evicted.inc(tableName, count),
    countRefusal: (listener, reason) => void refused[listener].inc(reason),
    publishSample: (sample) => gauges.publish(sample),
    withdrawSample: (store, reason) => gauges.withdraw(store, reason),
    sampleError: (store, reason) => gauges.countError(store, reason),
    sampleSkipped: (store, reason) => gauges.countSkipped(store, reason),
    render: () => {
      resources.set(names.distinct);
      return renderPage(page, clock);
    },
  };
}

/** What counts when no policies are given. */
const NO_POLICY: ResourcePolicy = {
  kind: 'mutex',
  page: true,
  expiry: 'optional',
  events: 'expected',
  intervalMs: undefined,
};

function createResourceInfo(
  families: PolicyFamilies,
  names: BoundedNames,
  policies: MetricsOptions['policies'],
): ResourceInfo {
  const byResource = policies?.byResource ?? new Map<string, ResourcePolicy>();
  const info = new ResourceInfo(families, byResource, policies?.byDefault ?? NO_POLICY);
  for (const resource of byResource.keys()) info.show(names.admit(policies?.store ?? '', resource));
  return info;
}

function createOwnFamilies(settings: FamilySettings, version: string): ExporterFamilies {
  const families = createFamilies(EXPORTER_FAMILIES, settings);
  for (const family of Object.values(families)) {
    if (family.spec.birth === 'eager') family.seed([]);
  }
  families.exporter_build_info.child([version]).set(1);
  return families;
}
