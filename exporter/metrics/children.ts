/** Labels of one child. Values are any text; they are escaped when rendered. */
export type Labels = Readonly<Record<string, string>>;

/** One line of the text format, in the shape that prom-client renders. */
export interface SampleLine {
  readonly value: number;
  readonly labels: Labels | { readonly le: number | '+Inf' };
  /** Labels of the child; rendered once, then remembered by prom-client per object. */
  readonly sharedLabels: Labels;
  readonly metricName?: string;
}

/** One child of a family. */
export interface Child {
  readonly labels: Labels;
  /** Appends its lines as they show at the monotonic time `nowMs`. */
  appendLines(lines: SampleLine[], nowMs: number): void;
}

const NO_LABELS: Labels = {};

/** False also for text: `1 + '1'` would become '11'. */
function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

/** A counter's child. It only ever grows. */
export class CounterChild implements Child {
  #value = 0;
  readonly #refuse: () => void;

  /** @param shownFromMs monotonic time until which it shows 0 */
  constructor(
    readonly labels: Labels,
    readonly shownFromMs: number,
    refuse: () => void,
  ) {
    this.#refuse = refuse;
  }

  /** Adds `amount`. An amount that is negative or not finite is refused: counted, false, and nothing changes. */
  inc(amount = 1): boolean {
    const next = this.#value + amount;
    if (!isAmount(amount) || !isAmount(next)) {
      this.#refuse();
      return false;
    }
    this.#value = next;
    return true;
  }

  /** The true value, whatever the page shows yet. */
  get value(): number {
    return this.#value;
  }

  appendLines(lines: SampleLine[], nowMs: number): void {
    const value = nowMs < this.shownFromMs ? 0 : this.#value;
    lines.push({ value, labels: NO_LABELS, sharedLabels: this.labels });
  }
}

/** A gauge's child. Not shown until it was set. */
export class GaugeChild implements Child {
  #value: number | undefined;
  readonly #refuse: () => void;

  constructor(
    readonly labels: Labels,
    refuse: () => void,
  ) {
    this.#refuse = refuse;
  }

  /** Sets the value. One that is negative or not finite is refused: counted, false, and the last one stays. */
  set(value: number): boolean {
    if (!isAmount(value)) {
      this.#refuse();
      return false;
    }
    this.#value = value;
    return true;
  }

  appendLines(lines: SampleLine[]): void {
    if (this.#value === undefined) return;
    lines.push({ value: this.#value, labels: NO_LABELS, sharedLabels: this.labels });
  }
}

/** What all children of one histogram share. */
export interface HistogramShape {
  readonly bounds: readonly number[];
  /** One object per bucket, +Inf last. */
  readonly bucketLabels: readonly { readonly le: number | '+Inf' }[];
  readonly bucketName: string;
  readonly sumName: string;
  readonly countName: string;
}

/** A histogram's child. */
export class HistogramChild implements Child {
  /** Observations per bucket, not cumulated; the last one is beyond every bound. */
  readonly #counts: number[];
  #sum = 0;
  readonly #shape: HistogramShape;
  readonly #refuse: () => void;

  /** @param shownFromMs monotonic time until which every line shows 0 */
  constructor(
    readonly labels: Labels,
    readonly shownFromMs: number,
    shape: HistogramShape,
    refuse: () => void,
  ) {
    this.#shape = shape;
    this.#refuse = refuse;
    this.#counts = new Array<number>(shape.bounds.length + 1).fill(0);
  }

  /** Counts `value`. One that is negative or not finite is refused: counted, false, and nothing changes. */
  observe(value: number): boolean {
    const sum = this.#sum + value;
    if (!isAmount(value) || !isAmount(sum)) {
      this.#refuse();
      return false;
    }
    this.#sum = sum;
    const { bounds } = this.#shape;
    let index = 0;
    while (value > (bounds[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    return true;
  }

  appendLines(lines: SampleLine[], nowMs: number): void {
    const { bucketLabels, bucketName, sumName, countName } = this.#shape;
    const shown = nowMs >= this.shownFromMs;
    const sharedLabels = this.labels;
    let count = 0;
    for (const [index, labels] of bucketLabels.entries()) {
      if (shown) count += this.#counts[index] ?? 0;
      lines.push({ value: count, labels, sharedLabels, metricName: bucketName });
    }
    lines.push({ value: shown ? this.#sum : 0, labels: NO_LABELS, sharedLabels, metricName: sumName });
    lines.push({ value: count, labels: NO_LABELS, sharedLabels, metricName: countName });
  }
}
