/** What is known of the batch with a given number. */
export type SeqState =
  /** Not seen yet: it may be taken. */
  | 'new'
  /** Taken before. */
  | 'seen'
  /** Too far back to tell. */
  | 'past';

/** How the events of a batch were counted when it first came. */
export interface BatchCounts {
  readonly accepted: number;
  readonly rejected: number;
}

/**
 * How many numbers are remembered per producer. A client has one batch in flight, so that a few would do; 64
 * leaves room for emitters that send in parallel and for proxies that hold a request back.
 */
export const SEQ_WINDOW = 64;

/** A step above this is no loss of batches but another numbering: 7 hours of batches, four in a second. */
const MAX_STEP = 100_000;

/**
 * The numbers of one producer's batches seen lately. Late and reordered batches within the window are told from
 * resends. A hole is counted as a gap once it leaves the window, so that reordering makes no false gap. What came
 * before the first number seen is unknown, and no gap.
 */
export class SeqWindow {
  readonly #seen: (BatchCounts | undefined)[];
  readonly #size: number;
  #first: number;
  #highest: number;

  constructor(first: number, size: number = SEQ_WINDOW) {
    this.#size = size;
    this.#seen = new Array<BatchCounts | undefined>(size).fill(undefined);
    this.#first = first;
    this.#highest = first;
  }

  /** The highest number taken. */
  get highest(): number {
    return this.#highest;
  }

  look(seq: number): SeqState {
    if (seq > this.#highest) return 'new';
    if (seq <= this.#highest - this.#size) return 'past';
    return this.#seen[seq % this.#size] === undefined ? 'new' : 'seen';
  }

  /** The counts of a batch that was `seen`. */
  recall(seq: number): BatchCounts | undefined {
    return this.look(seq) === 'seen' ? this.#seen[seq % this.#size] : undefined;
  }

  /** Notes a batch that was `new`. Returns how many gaps became certain by it. */
  take(seq: number, counts: BatchCounts): number {
    const gaps = seq > this.#highest ? this.#advance(seq) : 0;
    this.#seen[seq % this.#size] = counts;
    return gaps;
  }

  /** The holes still open, for when the producer is forgotten. */
  openGaps(): number {
    let gaps = 0;
    for (let seq = this.#oldest(); seq <= this.#highest; seq += 1) {
      if (this.#seen[seq % this.#size] === undefined) gaps += 1;
    }
    return gaps;
  }

  #oldest(): number {
    return Math.max(this.#first, this.#highest - this.#size + 1);
  }

  #advance(to: number): number {
    if (to - this.#highest > MAX_STEP) return this.#startAgain(to);
    let gaps = 0;
    for (let seq = this.#highest + 1; seq <= to; seq += 1) {
      const slot = seq % this.#size;
      if (seq - this.#size >= this.#first && this.#seen[slot] === undefined) gaps += 1;
      this.#seen[slot] = undefined;
    }
    this.#highest = to;
    return gaps;
  }

  #startAgain(first: number): number {
    const gaps = this.openGaps();
    this.#seen.fill(undefined);
    this.#first = first;
    this.#highest = first;
    return gaps;
  }
}
