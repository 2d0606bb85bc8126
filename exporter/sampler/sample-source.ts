import type { RedisReason } from '../../contract/outcomes.js';
import type { ObservedChanges } from './observed-changes.js';
import type { Sighting } from './sighting.js';
import type { SweepCounts } from './sweep.js';

/** How one look at all lock keys, or at all held ones, ended. */
export type LookOutcome =
  | {
      readonly kind: 'good';
      readonly counts: SweepCounts;
      /** Not every key was looked at by this look. */
      readonly truncated: boolean;
      /** What failed in a part of it. */
      readonly faults: readonly RedisReason[];
    }
  | { readonly kind: 'failed'; readonly reason: RedisReason }
  | { readonly kind: 'stopped' };

/** Where a sampler's samples come from. */
export interface SampleSource {
  /** Ms until another look is within the share of the server's time; 0: now. */
  waitMs(): number;
  /** One look. Rejects only with a fault of this program. */
  look(): Promise<LookOutcome>;
  /** Takes in that nothing is known now: a look failed by a fault of this program. */
  forget(): void;
  /** The locks as they are known now. Perhaps one and the same object for all of them: not to be kept. */
  sightings(): Iterable<Sighting>;
  /** What was seen to happen since the last call. */
  takeChanges(): readonly ObservedChanges[];
}
