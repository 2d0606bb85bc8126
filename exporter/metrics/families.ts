import { type Child, CounterChild, GaugeChild, HistogramChild, type HistogramShape } from './children.js';
import { type FamilySpec, type FamilyTable, METRIC_PREFIX } from './family-spec.js';

/** What the families of one registry share. */
export interface FamilySettings {
  /** Monotonic time in ms. */
  nowMs(): number;
  /** How long a newborn counter or histogram shows 0, in ms; 0 turns it off. */
  firstIncrementHoldMs: number;
  /** Called for each value that was refused, with the family's name. */
  onRefused(family: string): void;
}

/**
 * Children by their label values. Kept here instead of in prom-client because that hashes all labels at each
 * increment (1 µs) and publishes a newborn at once: callers keep the child and increment it directly.
 */
abstract class Family<C extends Child> {
  readonly spec: FamilySpec;
  readonly #byValues = new Map<string, C>();
  readonly #children: C[] = [];

  constructor(spec: FamilySpec) {
    this.spec = spec;
  }

  /** All children, in the order of their birth. A view: what is born later may show up in it. */
  get children(): readonly C[] {
    return this.#children;
  }

  /**
   * The child with these label values, in the order of the spec's labels; born when it is new.
   * @throws RangeError when their number is wrong, which is a mistake in this program
   */
  child(values: readonly string[]): C {
    const key = JSON.stringify(values);
    const known = this.#byValues.get(key);
    if (known !== undefined) return known;
    const child = this.bear(this.labelsOf(values));
    this.#byValues.set(key, child);
    this.#children.push(child);
    return child;
  }

  /** Bears the children that the catalogue seeds, after the leading label values `base`. */
  seed(base: readonly string[]): void {
    const ownLabels = this.spec.labels.length - base.length;
    for (const own of ownLabels === 0 ? [[]] : (this.spec.seeds ?? [])) this.child([...base, ...own]);
  }

  protected abstract bear(labels: Record<string, string>): C;

  protected labelsOf(values: readonly string[]): Record<string, string> {
    const { labels, name } = this.spec;
    if (values.length !== labels.length) {
      throw new RangeError(`${name} takes ${labels.length} label values, not ${values.length}`);
    }
    return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']));
  }
}

export class CounterFamily extends Family<CounterChild> {
  readonly #newborn: Newborn;

  constructor(spec: FamilySpec, settings: FamilySettings) {
    super(spec);
    this.#newborn = newbornRules(spec, settings);
  }

  protected override bear(labels: Record<string, string>): CounterChild {
    return new CounterChild(labels, this.#newborn.shownFromMs(), this.#newborn.refuse);
  }
}

export class HistogramFamily extends Family<HistogramChild> {
  readonly #shape: HistogramShape;
  readonly #newborn: Newborn;

  constructor(spec: FamilySpec & { type: 'histogram' }, settings: FamilySettings) {
    super(spec);
    this.#shape = shapeOf(spec);
    this.#newborn = newbornRules(spec, settings);
  }

  protected override bear(labels: Record<string, string>): HistogramChild {
    return new HistogramChild(labels, this.#newborn.shownFromMs(), this.#shape, this.#newborn.refuse);
  }
}

/** One value of a gauge that is published as a whole. */
export interface GaugeRow {
  /** Label values, the store first. */
  readonly values: readonly string[];
  readonly value: number;
}

export class GaugeFamily extends Family<GaugeChild> {
  readonly #refuse: () => void;
  #published: readonly GaugeChild[] = [];

  constructor(spec: FamilySpec, settings: FamilySettings) {
    super(spec);
    this.#refuse = () => settings.onRefused(spec.name);
  }

  override get children(): readonly GaugeChild[] {
    return this.#published.length === 0 ? super.children : [...super.children, ...this.#published];
  }

  /**
   * Puts `rows` in the place of all that was published for `store`; no rows: it vanishes. A value that is
   * negative or not finite is counted as refused and leaves no child. Takes effect at once, and never in the
   * middle of a page: a page holds on to the children it began with.
   */
  publish(store: string, rows: readonly GaugeRow[]): void {
    const others = this.#published.filter((child) => child.labels.store !== store);
    const fresh = rows.map(({ values, value }) => {
      const child = this.bear(this.labelsOf(values));
      return child.set(value) ? child : undefined;
    });
    this.#published = [...others, ...fresh.filter((child) => child !== undefined)];
  }

  protected override bear(labels: Record<string, string>): GaugeChild {
    return new GaugeChild(labels, this.#refuse);
  }
}

export type AnyFamily = CounterFamily | GaugeFamily | HistogramFamily;

/** The families of a table, under the table's keys. */
export type FamiliesOf<T extends FamilyTable> = {
  readonly [K in keyof T]: T[K]['type'] extends 'counter'
    ? CounterFamily
    : T[K]['type'] extends 'gauge'
      ? GaugeFamily
      : HistogramFamily;
};

/** Makes the storage of a table. */
export function createFamilies<T extends FamilyTable>(table: T, settings: FamilySettings): FamiliesOf<T> {
  const entries = Object.entries(table).map(([key, row]) => [
    key,
    createFamily({ name: METRIC_PREFIX + key, ...row }, settings),
  ]);
  // The class of each family follows from its row's type, which Object.entries forgets.
  return Object.fromEntries(entries) as FamiliesOf<T>;
}

function createFamily(spec: FamilySpec, settings: FamilySettings): AnyFamily {
  switch (spec.type) {
    case 'counter':
      return new CounterFamily(spec, settings);
    case 'gauge':
      return new GaugeFamily(spec, settings);
    case 'histogram':
      return new HistogramFamily(spec, settings);
    default:
      return spec satisfies never;
  }
}

interface Newborn {
  /** Monotonic time from which a child born now shows its value. */
  shownFromMs(): number;
  refuse(): void;
}

/**
 * `increase()` cannot see a counter that is born at 1, so a newborn shows 0 until it was surely scraped once.
 * The exporter's own families need no hold: they are born at 0 with the process.
 */
function newbornRules(spec: FamilySpec, settings: FamilySettings): Newborn {
  const holdMs = spec.source === 'exporter' ? 0 : settings.firstIncrementHoldMs;
  return {
    shownFromMs: () => (holdMs > 0 ? settings.nowMs() + holdMs : Number.NEGATIVE_INFINITY),
    refuse: () => settings.onRefused(spec.name),
  };
}

function shapeOf(spec: FamilySpec & { type: 'histogram' }): HistogramShape {
  return {
    bounds: spec.buckets,
    bucketLabels: [...spec.buckets.map((le) => ({ le })), { le: '+Inf' as const }],
    bucketName: `${spec.name}_bucket`,
    sumName: `${spec.name}_sum`,
    countName: `${spec.name}_count`,
  };
}
