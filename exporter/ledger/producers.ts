import type { Hold } from './hold.js';
import type { BatchFacts } from './ports.js';

/** Starts that differ by less are one run: some emitters work theirs out anew for each batch. */
const SAME_START_MS = 1000;

/** Awake times before everything. */
const NEVER = Number.NEGATIVE_INFINITY;

/** What the ledger knows of one client. */
export class Producer {
  readonly name: string;
  readonly app: string;
  readonly instance: string;
  readonly startedAtMs: number;
  lastSeq = 0;
  /** Awake time of its last batch in order. */
  heardMs = NEVER;
  /** The present batch was built after this awake time; -Infinity when that is not known. */
  builtAfterMs = NEVER;
  /** The present batch came after a later one. */
  late = false;
  /** What it holds is known: from its first batch on, or since its last full set, without a gap. */
  sure = false;
  closed = false;
  /** Some of its holds are marked `silent`. */
  hasSilent = false;
  /** Those of the holds known at its beginning that a set, which is not complete yet, has named so far, by their order. */
  pendingSet: Set<number> | undefined = undefined;
  /** Order of the youngest hold known when that set began. */
  pendingOrder = 0;
  /** Its holds that have not ended, as a list. */
  holds: Hold | undefined = undefined;

  constructor({ producer, app, instance, startedAtMs }: BatchFacts) {
    this.name = producer;
    this.app = app;
    this.instance = instance;
    this.startedAtMs = startedAtMs;
  }

  /** Takes in that a batch came. */
  hear({ seq }: BatchFacts, nowMs: number): void {
    this.late = seq <= this.lastSeq;
    if (this.late) {
      this.builtAfterMs = NEVER;
      return;
    }
    const inOrder = seq === this.lastSeq + 1;
    if (this.lastSeq === 0) this.sure = seq === 1;
    else if (!inOrder) this.sure = false;
    if (!inOrder) this.pendingSet = undefined;
    this.builtAfterMs = inOrder ? this.heardMs : NEVER;
    this.lastSeq = seq;
    this.heardMs = nowMs;
  }

  isOtherRun({ startedAtMs }: BatchFacts): boolean {
    return Math.abs(startedAtMs - this.startedAtMs) >= SAME_START_MS;
  }

  /** A full set of its holds begins. @param lastOrder of the youngest hold known */
  beginSet(lastOrder: number): void {
    this.pendingSet = new Set();
    this.pendingOrder = lastOrder;
  }

  /**
   * The set names a hold. One that became known since it began need not be remembered, as no set ends it: so a set that never
   * comes to its end takes no more room than there were holds.
   */
  nameInSet({ order }: Pick<Hold, 'order'>): void {
    if (order <= this.pendingOrder) this.pendingSet?.add(order);
  }

  /** Adds a hold that stands in no list. */
  link(hold: Hold): void {
    hold.next = this.holds;
    if (this.holds) this.holds.previous = hold;
    this.holds = hold;
  }

  unlink(hold: Hold): void {
    const { next, previous } = hold;
    if (this.holds?.row === hold.row) this.holds = next;
    if (previous) previous.next = next;
    if (next) next.previous = previous;
    hold.next = undefined;
    hold.previous = undefined;
  }

  /** Calls `visit` with each of its holds. The visited one may end meanwhile, no other. */
  forEachHold(visit: (hold: Hold) => void): void {
    let next: Hold | undefined;
    for (let hold = this.holds; hold; hold = next) {
      next = hold.next;
      visit(hold);
    }
  }
}

/** What the ledger hears of besides holds: clients, in the order in which they were last heard of. */
export class ProducerTable {
  readonly #known = new Map<string, Producer>();
  readonly #limit: number;
  readonly #onForget: (producer: Producer, forRoom: boolean) => void;

  /** @param onForget called with each that is forgotten; `forRoom` when the table was full */
  constructor(limit: number, onForget: (producer: Producer, forRoom: boolean) => void) {
    this.#limit = limit;
    this.#onForget = onForget;
  }

  get size(): number {
    return this.#known.size;
  }

  values(): Iterable<Producer> {
    return this.#known.values();
  }

  /** The producer of a batch that has just come. */
  meet(facts: BatchFacts, nowMs: number): Producer {
    let producer = this.#known.get(facts.producer);
    if (producer?.isOtherRun(facts)) this.forget(producer);
    if (producer === undefined || producer.isOtherRun(facts)) producer = new Producer(facts);
    this.#known.delete(producer.name);
    this.#known.set(producer.name, producer);
    producer.hear(facts, nowMs);
    if (this.#known.size > this.#limit) this.#forgetOldest();
    return producer;
  }

  forget(producer: Producer, forRoom = false): void {
    this.#known.delete(producer.name);
    this.#onForget(producer, forRoom);
  }

  #forgetOldest(): void {
    for (const oldest of this.#known.values()) {
      this.forget(oldest, true);
      return;
    }
  }
}
