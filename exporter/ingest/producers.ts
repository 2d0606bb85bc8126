import { DropCounts } from './drop-counts.js';
import { SeqWindow } from './seq-window.js';

/** What is remembered of one producer. */
export interface Producer {
  readonly startedAtMs: number;
  readonly window: SeqWindow;
  readonly drops: DropCounts;
  /** Monotonic time of its last batch. */
  seenMonoMs: number;
}

/** What bounds the table. */
export interface ProducerLimits {
  /** Most producers known; the least recently heard of is forgotten for a new one. */
  readonly maxProducers: number;
  /** A producer silent for longer is forgotten. */
  readonly idleMs: number;
}

/** The producers known, in the order in which they were last heard of. */
export class ProducerTable {
  readonly #known = new Map<string, Producer>();
  readonly #limits: ProducerLimits;
  readonly #onForget: (producer: Producer) => void;

  /** @param onForget called for each producer that is forgotten */
  constructor(limits: ProducerLimits, onForget: (producer: Producer) => void) {
    this.#limits = limits;
    this.#onForget = onForget;
  }

  get size(): number {
    return this.#known.size;
  }

  /** The producer, now the one most recently heard of. */
  hear(name: string, nowMonoMs: number): Producer | undefined {
    const producer = this.#known.get(name);
    if (!producer) return undefined;
    producer.seenMonoMs = nowMonoMs;
    this.#known.delete(name);
    this.#known.set(name, producer);
    return producer;
  }

  /** Begins to know a producer; one of the same name is forgotten. */
  add(name: string, startedAtMs: number, firstSeq: number, nowMonoMs: number): Producer {
    this.#forget(name);
    if (this.#known.size >= this.#limits.maxProducers) this.#forgetOldest();
    const window = new SeqWindow(firstSeq);
    const producer = { startedAtMs, window, drops: new DropCounts(), seenMonoMs: nowMonoMs };
    this.#known.set(name, producer);
    return producer;
  }

  /** Forgets those silent for too long. Costs next to nothing when there are none. */
  forgetIdle(nowMonoMs: number): void {
    for (const [name, producer] of this.#known) {
      if (nowMonoMs - producer.seenMonoMs <= this.#limits.idleMs) return;
      this.#forget(name);
    }
  }

  #forgetOldest(): void {
    for (const name of this.#known.keys()) {
      this.#forget(name);
      return;
    }
  }

  #forget(name: string): void {
    const producer = this.#known.get(name);
    if (!producer) return;
    this.#known.delete(name);
    this.#onForget(producer);
  }
}
