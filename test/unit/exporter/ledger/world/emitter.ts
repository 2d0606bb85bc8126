import type { Hold } from '../../../../../contract/batch.js';
import type { Random } from '../../../../../contract/clock.js';
import type { LockEvent } from '../../../../../contract/event.js';
import type { Agenda } from './agenda.js';
import type { Exporter, Records } from './exporter.js';
import type { Arrival } from './truth.js';

/** An event under way, and what its arrival makes known of its hold. */
export interface Queued {
  readonly event: LockEvent;
  readonly owner: string;
  readonly tells: readonly Arrival[];
}

/** A batch as it travels. */
export interface WorldBatch {
  readonly producer: string;
  readonly seq: number;
  readonly events: readonly Queued[];
  readonly set: SetPart | undefined;
  readonly serverId: string | undefined;
  readonly closing: boolean;
  /** Holds that end with the goodbye, by owner. */
  readonly left: readonly string[];
}

interface SetPart {
  readonly reports: readonly Hold[];
  readonly first: boolean;
  readonly more: boolean;
}

/** What an emitter asks of its process. */
export interface Source {
  readonly name: string;
  readonly awake: boolean;
  readonly serverId: string | undefined;
  /** Its holds as they are reported. */
  reports(): Hold[];
}

const HEARTBEAT_MS = 1000;
/** Few, so that a queue often takes several batches. */
const BATCH_EVENTS = 4;
/** The same batch is sent again after so long without an answer. */
const RESEND_MS = 2500;

/**
 * Sends the events of one process as the lock client does: in order, one batch under way, sent again until it is answered, with
 * the full set of holds first, after a loss of events, and when another run of the exporter answers.
 */
export class Emitter {
  readonly #source: Source;
  readonly #exporter: Exporter;
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #records: Records;
  #queue: Queued[] = [];
  #parts: SetPart[] = [];
  #needsSet = true;
  #inFlight: WorldBatch | undefined;
  #refusesNext = false;
  #left: readonly string[] | undefined;
  #closed = false;
  #epoch: string | undefined;
  #seq = 0;
  #lastSentMs = Number.NEGATIVE_INFINITY;

  constructor(
    source: Source,
    exporter: Exporter,
    world: { agenda: Agenda; random: Random; records: Records },
  ) {
    this.#source = source;
    this.#exporter = exporter;
    this.#agenda = world.agenda;
    this.#random = world.random;
    this.#records = world.records;
  }

  report(queued: Queued): void {
    this.#queue.push(queued);
  }

  /** Loses what waits. */
  drop(): void {
    if (this.#queue.length === 0) return;
    this.#queue = [];
    this.#needsSet = true;
    this.#records.note('events were dropped');
  }

  /** The next batch is refused as a whole: its number is never seen. */
  refuseNext(): void {
    this.#refusesNext = true;
  }

  /** What waits goes with a goodbye. @param left owners of the holds that are left behind */
  close(left: readonly string[]): void {
    this.#left = left;
  }

  /** To be called often: sends what is due. */
  pump(isHolding: boolean): void {
    if (this.#inFlight || this.#closed || !this.#source.awake) return;
    const beat = isHolding && this.#agenda.nowMs - this.#lastSentMs >= HEARTBEAT_MS;
    const due = this.#queue.length > 0 || this.#parts.length > 0 || this.#left !== undefined;
    if (!due && !beat && !(this.#needsSet && this.#seq > 0)) return;
    this.#inFlight = this.#build();
    this.#lastSentMs = this.#agenda.nowMs;
    this.#send(this.#inFlight);
  }

  #build(): WorldBatch {
    if (this.#needsSet && this.#parts.length === 0) this.#beginSet();
    const set = this.#parts.shift();
    // What was reported after the set was read must not overtake the rest of it.
    const events = set === undefined || set.first ? this.#queue.splice(0, BATCH_EVENTS) : [];
    const isLast = this.#parts.length === 0 && this.#queue.length === 0;
    const left = isLast ? this.#left : undefined;
    this.#closed = left !== undefined;
    this.#seq += 1;
    const { name, serverId } = this.#source;
    return {
      producer: name,
      seq: this.#seq,
      events,
      set,
      serverId,
      closing: left !== undefined,
      left: left ?? [],
    };
  }

  #beginSet(): void {
    this.#needsSet = false;
    const all = this.#source.reports();
    const cut = all.length > 1 && this.#random() < 0.5 ? 1 : all.length;
    this.#parts.push({ reports: all.slice(0, cut), first: true, more: cut < all.length });
    if (cut === all.length) return;
    this.#parts.push({ reports: all.slice(cut), first: false, more: false });
    this.#records.note('a set came in parts');
  }

  #send(batch: WorldBatch): void {
    const refused = this.#refusesNext;
    this.#refusesNext = false;
    const delayMs = this.#delayMs();
    if (delayMs > 1000) this.#records.note('a batch came late');
    const isLost = this.#random() < 0.05;
    if (!isLost) this.#agenda.in(delayMs, () => (refused ? this.#refuse(batch) : this.#arrive(batch)));
    this.#agenda.in(RESEND_MS, () => this.#sendAgain(batch));
  }

  #sendAgain(batch: WorldBatch): void {
    if (this.#inFlight !== batch) return;
    if (this.#source.awake) this.#send(batch);
    else this.#agenda.in(500, () => this.#sendAgain(batch));
  }

  #delayMs(): number {
    const chance = this.#random();
    if (chance < 0.05) return this.#random() * 9000;
    return this.#random() * (chance < 0.25 ? 4000 : 50);
  }

  #arrive(batch: WorldBatch): void {
    this.#exporter.receive(batch, (epoch) => {
      if (this.#random() < 0.05) return;
      this.#agenda.in(this.#random() * 20, () => this.#answered(batch, epoch));
    });
  }

  #answered(batch: WorldBatch, epoch: string): void {
    if (this.#inFlight !== batch) return;
    this.#inFlight = undefined;
    if (epoch !== this.#epoch && !batch.set?.first) this.#needsSet = true;
    this.#epoch = epoch;
  }

  #refuse(batch: WorldBatch): void {
    if (this.#inFlight !== batch) return;
    this.#inFlight = undefined;
    this.#needsSet = true;
    this.#parts = [];
    this.#records.note('a batch was refused');
  }
}
