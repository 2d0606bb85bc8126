import type { SAMPLE_FAMILIES } from './catalogue-sample.js';
import type { CounterFamily, FamiliesOf, GaugeFamily, GaugeRow } from './families.js';
import type { BoundedNames } from './label-names.js';
import type { ObservedChanges, SampledResource, SampleReport } from './ports.js';
import type { ResourceInfo } from './resource-info.js';
import { WordCounter } from './word-counter.js';

export type SampleFamilies = FamiliesOf<typeof SAMPLE_FAMILIES>;

const MS_PER_SECOND = 1000;

/** What is known of one resource, all its parts taken together. */
interface Totals {
  keys: number;
  withoutExpiry: number;
  earliestExpiryMs?: number | undefined;
  latestExpiryMs?: number | undefined;
  oldestHoldS?: number | undefined;
}

/** The families of the sample: published whole, withdrawn whole, per store. */
export class SampledGauges {
  readonly #families: SampleFamilies;
  readonly #names: BoundedNames;
  readonly #info: ResourceInfo;
  readonly #counters = new Map<string, StoreCounters>();

  constructor(families: SampleFamilies, names: BoundedNames, info: ResourceInfo) {
    this.#families = families;
    this.#names = names;
    this.#info = info;
  }

  publish(sample: SampleReport): void {
    const store = this.#names.store(sample.store);
    const totals = this.#totalsByResource(sample);
    const changes = [...(sample.changes ?? [])];
    this.#countersOf(store);
    this.#publishResources(store, totals);
    this.#countChanges(sample.store, totals.keys(), changes);
    this.#publishStore(this.#families.sample_timestamp_seconds, store, sample.takenAtMs / MS_PER_SECOND);
    this.#publishStore(this.#families.sample_duration_seconds, store, sample.durationMs / MS_PER_SECOND);
    this.#publishStore(this.#families.sample_truncated, store, sample.truncated ? 1 : 0);
    this.#publishStore(this.#families.sample_ignored_keys, store, sample.ignoredKeys ?? 0);
    this.#families.up.publish(store, [{ values: [store, 'ok'], value: 1 }]);
  }

  withdraw(store: string, reason: string): void {
    const name = this.#names.store(store);
    this.#countersOf(name);
    this.#publishResources(name, new Map());
    this.#families.sample_duration_seconds.publish(name, []);
    this.#families.sample_truncated.publish(name, []);
    this.#families.sample_ignored_keys.publish(name, []);
    this.#families.up.publish(name, [{ values: [name, reason], value: 0 }]);
  }

  countError(store: string, reason: string): void {
    this.#countersOf(this.#names.store(store)).errors.inc(reason);
  }

  countSkipped(store: string, reason: string): void {
    this.#countersOf(this.#names.store(store)).skipped.inc(reason);
  }

  /** Bears the counters of each resource that is seen, so that its first change is an increase. */
  #countChanges(storeName: string, seen: Iterable<string>, changes: readonly ObservedChanges[]): void {
    const store = this.#names.store(storeName);
    const families = this.#families;
    const count = (resource: string, change?: ObservedChanges) => {
      const values = [store, resource];
      const add = (family: CounterFamily, amount = 0) => {
        const child = family.child(values);
        if (amount > 0) child.inc(amount);
      };
      add(families.observed_renewals_total, change?.renewals);
      add(families.observed_handovers_total, change?.handovers);
      add(families.observed_released_total, change?.released);
      add(families.observed_expired_total, change?.expired);
    };
    for (const resource of seen) count(resource);
    for (const change of changes) {
      count(this.#names.admit(storeName, change.resource).resource, change);
    }
  }

  #totalsByResource(sample: SampleReport): Map<string, Totals> {
    const totals = new Map<string, Totals>();
    for (const part of sample.resources) {
      const names = this.#names.admit(sample.store, part.resource);
      const { resource } = names;
      this.#info.show(names);
      const sofar = totals.get(resource);
      totals.set(resource, sofar === undefined ? part : addUp(sofar, part));
    }
    return totals;
  }

  #publishResources(store: string, totals: ReadonlyMap<string, Totals>): void {
    const families = this.#families;
    const publish = (family: GaugeFamily, pick: (totals: Totals) => number | undefined, unit = 1) => {
      family.publish(store, rowsOf(store, totals, pick, unit));
    };
    publish(families.keys, (of) => of.keys);
    publish(families.keys_without_expiry, (of) => of.withoutExpiry);
    publish(families.earliest_expiry_timestamp_seconds, (of) => of.earliestExpiryMs, MS_PER_SECOND);
    publish(families.latest_expiry_timestamp_seconds, (of) => of.latestExpiryMs, MS_PER_SECOND);
    publish(families.oldest_hold_seconds, (of) => of.oldestHoldS);
  }

  #publishStore(family: GaugeFamily, store: string, value: number): void {
    family.publish(store, [{ values: [store], value }]);
  }

  /** Also bears the seeded children, with the first sign of the store. */
  #countersOf(store: string): StoreCounters {
    let counters = this.#counters.get(store);
    if (counters === undefined) {
      const { sample_errors_total, sample_skipped_total } = this.#families;
      for (const family of [sample_errors_total, sample_skipped_total]) family.seed([store]);
      const base = [store];
      counters = {
        errors: new WordCounter(sample_errors_total, base),
        skipped: new WordCounter(sample_skipped_total, base),
      };
      this.#counters.set(store, counters);
    }
    return counters;
  }
}

/** The counters of one store whose last label is a word. */
interface StoreCounters {
  readonly errors: WordCounter;
  readonly skipped: WordCounter;
}

function rowsOf(
  store: string,
  totals: ReadonlyMap<string, Totals>,
  pick: (totals: Totals) => number | undefined,
  unit: number,
): GaugeRow[] {
  const rows: GaugeRow[] = [];
  for (const [resource, of] of totals) {
    const value = pick(of);
    if (value !== undefined) rows.push({ values: [store, resource], value: value / unit });
  }
  return rows;
}

function addUp(sofar: Totals, part: SampledResource): Totals {
  return {
    keys: sofar.keys + part.keys,
    withoutExpiry: sofar.withoutExpiry + part.withoutExpiry,
    earliestExpiryMs: merge(Math.min, sofar.earliestExpiryMs, part.earliestExpiryMs),
    latestExpiryMs: merge(Math.max, sofar.latestExpiryMs, part.latestExpiryMs),
    oldestHoldS: merge(Math.max, sofar.oldestHoldS, part.oldestHoldS),
  };
}

function merge(
  join: (a: number, b: number) => number,
  a: number | undefined,
  b: number | undefined,
): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return join(a, b);
}
