import type { HOT_FAMILIES, LEDGER_FAMILIES } from './catalogue-ledger.js';
import type { SAMPLE_FAMILIES } from './catalogue-sample.js';
import type { FamiliesOf, GaugeFamily, GaugeRow } from './families.js';
import type { BoundedNames, LabelNames } from './label-names.js';
import type { HolderCount, HotLockValues, KeyStandings, MetricFinding } from './ports.js';
import type { ResourceSlot } from './resource-slot.js';

export type LedgerFamilies = FamiliesOf<typeof LEDGER_FAMILIES>;
export type HotFamilies = FamiliesOf<typeof HOT_FAMILIES>;

/** The families that the series of the ledger are written to. */
export interface LedgerSeriesFamilies {
  readonly ledger: LedgerFamilies;
  readonly hot: HotFamilies;
  readonly foreignKeys: FamiliesOf<typeof SAMPLE_FAMILIES>['foreign_keys'];
}

const MS_PER_SECOND = 1000;

/** Counts findings, and publishes what the ledger knows as gauges. */
export class LedgerSeries {
  readonly #families: LedgerSeriesFamilies;
  readonly #names: BoundedNames;

  constructor(families: LedgerSeriesFamilies, names: BoundedNames) {
    this.#families = families;
    this.#names = names;
  }

  /** Bears the counters of a resource, so that its first finding is an increase. */
  bear({ store, resource }: LabelNames): void {
    for (const family of Object.values(this.#families.ledger)) {
      if (family.spec.birth === 'eager') family.seed([store, resource]);
    }
  }

  /** Counts a finding. @param slot of its resource */
  count(finding: MetricFinding, slot: ResourceSlot): void {
    const { ledger } = this.#families;
    const names = this.#names.admit(finding.store, finding.resource);
    const values = [names.store, names.resource];
    switch (finding.kind) {
      case 'overlap':
        slot.overlaps.inc();
        return;
      case 'overlap_other':
        return;
      case 'overlap_end':
        ledger.overlap_seconds.child(values).observe(finding.lengthMs / MS_PER_SECOND);
        return;
      case 'ghost_holder':
        ledger.ghost_holders_total.child(values).inc();
        slot.lost.inc('sample');
        return;
      case 'zombie_renewal':
        ledger.zombie_renewals_total.child(values).inc();
        return;
      case 'abandoned':
        ledger.abandoned_total.child([...values, String(finding.takenOver)]).inc();
        return;
      case 'fence_regression':
        ledger.fence_regressions_total.child(values).inc();
        return;
      default:
        finding satisfies never;
    }
  }

  /** Puts the holders in the place of the last ones. */
  publishHolders(store: string, counts: readonly HolderCount[]): void {
    const { holders, unsure_holders } = this.#families.ledger;
    this.#publishSums(holders, store, counts, (count) => count.holders);
    this.#publishSums(unsure_holders, store, counts, (count) => count.unsure);
  }

  /** Puts the standings of sampled keys in the place of the last ones; none: they vanish. */
  publishStandings(store: string, standings: readonly KeyStandings[]): void {
    this.#publishSums(this.#families.foreignKeys, store, standings, (one) => one.foreign);
    this.#publishSums(this.#families.ledger.orphan_keys, store, standings, (one) => one.orphans);
  }

  publishHotLocks(storeName: string, locks: readonly HotLockValues[]): void {
    const store = this.#names.store(storeName);
    const { hot } = this.#families;
    const publish = (family: GaugeFamily, pick: (lock: HotLockValues) => number | null) => {
      const rows = locks.flatMap((lock): GaugeRow[] => {
        const value = pick(lock);
        const { resource } = this.#names.admit(storeName, lock.resource);
        return value === null ? [] : [{ values: [store, resource, lock.lock], value }];
      });
      family.publish(store, rows);
    };
    publish(hot.hot_attempts, (lock) => lock.attempts);
    publish(hot.hot_contended_ratio, (lock) => lock.contendedRatio);
    publish(hot.hot_busy_ratio, (lock) => lock.busyRatio);
    publish(hot.hot_hold_seconds, ({ meanHoldMs }) =>
      meanHoldMs === null ? null : meanHoldMs / MS_PER_SECOND,
    );
  }

  /** Resources beyond the cap share one series. */
  #publishSums<T extends { readonly resource: string }>(
    family: GaugeFamily,
    storeName: string,
    parts: readonly T[],
    pick: (part: T) => number,
  ): void {
    const store = this.#names.store(storeName);
    const sums = new Map<string, number>();
    for (const part of parts) {
      const { resource } = this.#names.admit(storeName, part.resource);
      sums.set(resource, (sums.get(resource) ?? 0) + pick(part));
    }
    family.publish(
      store,
      [...sums].map(([resource, value]) => ({ values: [store, resource], value })),
    );
  }
}
