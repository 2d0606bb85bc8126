import type { EVENT_FAMILIES } from './catalogue-events.js';
import type { CounterChild, HistogramChild } from './children.js';
import type { FamiliesOf } from './families.js';
import { WordCounter } from './word-counter.js';

export type EventFamilies = FamiliesOf<typeof EVENT_FAMILIES>;

/** The children of the renewal families of one resource. */
export interface RenewalChildren {
  readonly renewed: CounterChild;
  readonly failed: WordCounter;
  readonly perHold: HistogramChild;
  readonly margin: HistogramChild;
  readonly lateness: HistogramChild;
}

/**
 * Direct references to the children of one resource, so that an event costs no hashing of labels. All eager
 * children are born with it; those of a rarely used feature with its first use.
 */
export class ResourceSlot {
  readonly acquires: WordCounter;
  readonly tryFailures: WordCounter;
  readonly waitFailures: WordCounter;
  readonly retries: CounterChild;
  readonly wait: HistogramChild;
  readonly hold: HistogramChild;
  readonly fixedLeaseRatio: HistogramChild;
  readonly peakUse: HistogramChild;
  readonly releases: CounterChild;
  readonly notOwned: WordCounter;
  readonly releaseFailures: WordCounter;
  readonly lost: WordCounter;
  readonly overlaps: CounterChild;
  readonly lastAcquired: { set(value: number): boolean };
  readonly lastLeaseRatio: { set(value: number): boolean };

  readonly #families: EventFamilies;
  readonly #base: readonly string[];
  #renewedLeaseRatio: HistogramChild | undefined;
  #renewals: RenewalChildren | undefined;
  #checks: WordCounter | undefined;
  #fenceRejections: CounterChild | undefined;
  #duplicates: WordCounter | undefined;

  constructor(families: EventFamilies, store: string, resource: string) {
    const base = [store, resource];
    for (const family of Object.values(families)) if (family.spec.birth === 'eager') family.seed(base);
    this.acquires = new WordCounter(families.acquire_total, base);
    this.tryFailures = new WordCounter(families.acquire_failures_total, [...base, 'try']);
    this.waitFailures = new WordCounter(families.acquire_failures_total, [...base, 'wait']);
    this.retries = families.acquire_retries_total.child(base);
    this.wait = families.acquire_wait_seconds.child(base);
    this.hold = families.hold_seconds.child(base);
    this.fixedLeaseRatio = families.hold_lease_ratio.child([...base, 'false']);
    this.peakUse = families.lease_peak_use_ratio.child(base);
    this.releases = families.release_total.child(base);
    this.notOwned = new WordCounter(families.release_not_owned_total, base);
    this.releaseFailures = new WordCounter(families.release_failures_total, base);
    this.lost = new WordCounter(families.lost_total, base);
    this.overlaps = families.overlaps_total.child(base);
    this.lastAcquired = families.last_acquired_timestamp_seconds.child(base);
    this.lastLeaseRatio = families.last_hold_lease_ratio.child(base);
    this.#families = families;
    this.#base = base;
  }

  get renewedLeaseRatio(): HistogramChild {
    this.#renewedLeaseRatio ??= this.#families.hold_lease_ratio.child([...this.#base, 'true']);
    return this.#renewedLeaseRatio;
  }

  get renewals(): RenewalChildren {
    this.#renewals ??= this.#bearRenewals();
    return this.#renewals;
  }

  get checks(): WordCounter {
    this.#checks ??= this.#bearWords('checks_total');
    return this.#checks;
  }

  get fenceRejections(): CounterChild {
    this.#fenceRejections ??= this.#families.fence_rejections_total.child(this.#base);
    return this.#fenceRejections;
  }

  get duplicates(): WordCounter {
    this.#duplicates ??= this.#bearWords('duplicate_executions_total');
    return this.#duplicates;
  }

  #bearRenewals(): RenewalChildren {
    const families = this.#families;
    return {
      renewed: families.renewals_total.child(this.#base),
      failed: this.#bearWords('renewal_failures_total'),
      perHold: families.renewals_per_hold.child(this.#base),
      margin: families.renewal_margin_ratio.child(this.#base),
      lateness: families.renewal_lateness_seconds.child(this.#base),
    };
  }

  #bearWords(family: 'checks_total' | 'duplicate_executions_total' | 'renewal_failures_total'): WordCounter {
    this.#families[family].seed(this.#base);
    return new WordCounter(this.#families[family], this.#base);
  }
}
