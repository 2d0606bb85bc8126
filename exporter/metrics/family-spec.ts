/** Every family of this project starts with it; process defaults keep their well-known names. */
export const METRIC_PREFIX = 'redis_lock_';

/**
 * What a value measures. `seconds`: a duration; `timestamp_seconds`: seconds since the epoch; `ratio`: a share,
 * which may exceed 1; `boolean`: 0 or 1; `info`: always 1, the facts are in the labels; `count`: a number of things.
 */
export type Unit = 'seconds' | 'timestamp_seconds' | 'ratio' | 'count' | 'boolean' | 'info' | 'bytes';

/**
 * Where values come from: `events` of clients, `sample` of Redis, `both` joined, or the `exporter` itself.
 * What does not come from the exporter itself holds its first increments back.
 */
export type Source = 'events' | 'sample' | 'both' | 'exporter';

/** `stable`: name, labels and meaning change only with a new major version. */
export type Stability = 'stable' | 'experimental';

/** `eager`: with a resource's (or store's, or the process's) first sign; `lazy`: with the first use of the feature. */
export type Birth = 'eager' | 'lazy';

interface CommonRow {
  readonly help: string;
  readonly unit: Unit;
  /** In the order of the text format: `store`, then `resource`, then the family's own labels. */
  readonly labels: readonly string[];
  /** Values of the family's own labels whose children are born at once, each tuple in the order of `labels`. */
  readonly seeds?: readonly (readonly string[])[];
  readonly source: Source;
  readonly birth: Birth;
  readonly stability: Stability;
}

/** One row of the catalogue, without its name. */
export type FamilyRow =
  | (CommonRow & { readonly type: 'counter' })
  | (CommonRow & { readonly type: 'gauge' })
  | (CommonRow & {
      readonly type: 'histogram';
      /** Upper bounds, rising, without +Inf. */
      readonly buckets: readonly number[];
    });

/** One row of the catalogue. */
export type FamilySpec = FamilyRow & { readonly name: string };

/** A table of rows by the name without {@link METRIC_PREFIX}. */
export type FamilyTable = Readonly<Record<string, FamilyRow>>;

/** The table's rows with their full names, in the table's order. */
export function specsOf(table: FamilyTable): FamilySpec[] {
  return Object.entries(table).map(([key, row]) => ({ name: METRIC_PREFIX + key, ...row }));
}
