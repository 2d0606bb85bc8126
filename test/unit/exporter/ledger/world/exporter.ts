import type { Random } from '../../../../../contract/clock.js';
import type { Finding } from '../../../../../exporter/ledger/finding.js';
import type { HeldKeyLook, KeyStanding } from '../../../../../exporter/ledger/ports.js';
import { LedgerBench } from '../batches.js';
import type { Agenda } from './agenda.js';
import type { WorldBatch } from './emitter.js';
import type { SeenLock, Server } from './redis.js';
import {
  type Arrival,
  type Arrived,
  ownerOf,
  type Producing,
  type Run,
  type Told,
  type TrueHold,
} from './truth.js';

/** What a sweep's key was called, and what is known besides. */
export interface Judged {
  readonly atMs: number;
  readonly run: Run;
  readonly owner: string;
  readonly seenUs: number;
  readonly standing: KeyStanding;
  readonly arrived: Arrived;
  readonly producers: ReadonlyMap<string, Producing>;
}

/** What the exporters of a world found. */
export interface Records {
  readonly holds: TrueHold[];
  readonly told: Told[];
  readonly judged: Judged[];
  /** Looks by server, time and lock: the owner that was seen, or nothing. */
  readonly looks: Map<string, string | undefined>;
  /** How many holds were called unsure, each second, and how many must have been. */
  readonly counted: { readonly unsure: number; readonly least: number; readonly most: number }[];
  readonly runs: Run[];
  readonly note: (situation: string) => void;
}

/** Names a look in the records. */
export function lookKey(serverId: string, seenUs: number, lock: string): string {
  return `${serverId} ${seenUs} ${lock}`;
}

const NEVER: Producing = { heardMs: Number.NEGATIVE_INFINITY, highest: 0, sure: false, closed: false };
/** A client that missed so many heartbeats is silent. */
export const SILENT_BEATS = 3;
const LOCKS = ['0000000000000000', '0000000000000001', '0000000000000002'];

/** A place where an exporter runs: one after the other, since it is restarted. It may be down, or stand still. */
export class Exporter {
  readonly #number: number;
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #records: Records;
  /** Whether its looks can name the server. */
  readonly #namesServers: boolean;
  #bench = new LedgerBench();
  #taken = new Set<string>();
  #run: Run;
  #downUntilMs = 0;
  #stillUntilMs = 0;
  #lastSwept: SeenLock[] = [];
  readonly #highest = new Map<string, number>();

  constructor(
    number: number,
    world: { agenda: Agenda; random: Random; records: Records; namesServers: boolean },
  ) {
    this.#number = number;
    this.#agenda = world.agenda;
    this.#random = world.random;
    this.#records = world.records;
    this.#namesServers = world.namesServers;
    this.#run = this.#begin();
  }

  get run(): Run {
    return this.#run;
  }

  /** Forgets everything, and takes nothing for a while. */
  restart(): void {
    this.#run.endedMs = this.#agenda.nowMs;
    this.#bench = new LedgerBench();
    this.#taken = new Set();
    this.#lastSwept = [];
    this.#highest.clear();
    this.#downUntilMs = this.#agenda.nowMs + 300 + this.#random() * 1700;
    this.#stillUntilMs = 0;
    this.#run = this.#begin();
  }

  /** The process stands still: what comes waits. */
  standStill(): void {
    this.#stillUntilMs = this.#agenda.nowMs + 3000 + this.#random() * 9000;
    this.#run.stoodStill = true;
    this.#records.note('an exporter stood still');
  }

  tick(): void {
    if (this.#isStill) return;
    this.#tell(this.#bench.ledger.tick(this.#now()));
    const unsure = this.#bench.ledger.holders().reduce((sum, row) => sum + row.unsure, 0);
    const { holds, counted } = this.#records;
    counted.push({
      unsure,
      least: holds.filter((hold) => this.#isUnsure(hold)).length,
      most: this.#mostUnsure,
    });
  }

  /** Surely believed in by a client of which not all is known here. */
  #isUnsure({ owner, producer, leaseMs }: TrueHold): boolean {
    const producing = this.#run.producers.get(producer);
    const { acquire, late, lost, release } = this.#run.arrived.get(owner) ?? {};
    if (producing === undefined || producing.sure || producing.closed) return false;
    const isHeard = this.#agenda.nowMs - producing.heardMs < SILENT_BEATS * Math.max(1000, leaseMs / 5);
    const isGhost = this.#records.told.some(
      ({ run, finding }) =>
        run === this.#run && finding.kind === 'ghost_holder' && ownerOf(finding) === owner,
    );
    return isHeard && !isGhost && acquire !== undefined && (late ?? lost ?? release) === undefined;
  }

  get #mostUnsure(): number {
    const { producers } = this.#run;
    return [...producers.values()].every(({ sure }) => sure) ? 0 : Number.POSITIVE_INFINITY;
  }

  /** A batch has come over the network. @param answered not called while it is down */
  receive(batch: WorldBatch, answered: (epoch: string) => void): void {
    const run = this.#run;
    if (this.#agenda.nowMs < this.#downUntilMs) return;
    this.#whenRunning(run, () => {
      const name = `${batch.producer} ${batch.seq}`;
      if (this.#taken.has(name)) this.#records.note('a batch came twice');
      else this.#take(batch);
      this.#taken.add(name);
      answered(run.epoch);
    });
  }

  /** A look on the master at all keys; told a little later. */
  look(server: Server): void {
    if (this.#isStill) return;
    const seenUs = server.us();
    const sights = server.look();
    const serverId = this.#namesServers ? server.id : null;
    const looks = LOCKS.map((lock): HeldKeyLook => {
      const seen = sights.find((one) => one.lock === lock);
      this.#records.looks.set(lookKey(server.id, seenUs, lock), seen?.owner);
      const common = { lock, resource: 'stock', serverUs: seenUs, serverId } as const;
      if (!seen) return { ...common, state: 'gone' };
      return { ...common, state: 'there', owner: seen.owner, leftMs: seen.leftMs };
    });
    this.#later(this.#random() * 300, () => {
      this.#now();
      this.#tell(this.#bench.look(...looks));
      this.#noteRises(sights);
    });
  }

  /** A sweep of all keys, judged later; what it saw may be judged once more with the next one. */
  sweep(server: Server): void {
    if (this.#isStill) return;
    const sights = server.look();
    const readMs = this.#agenda.nowMs;
    const again = this.#lastSwept.filter(() => this.#random() < 0.2);
    this.#lastSwept = sights;
    this.#later(this.#random() * 2000, () => {
      for (const seen of [...again, ...sights]) this.#judge(seen, readMs);
      this.#noteRises(sights);
    });
  }

  #judge({ owner, expiresUs, seenUs, leftMs }: SeenLock, readMs: number): void {
    const nowMs = this.#now();
    const left = Math.max(0, leftMs - (this.#agenda.nowMs - readMs));
    const { standing, finding } = this.#bench.ledger.judgeKey(
      { owner, expiresUs, seenUs, leftMs: left },
      nowMs,
    );
    const { arrived, producers } = this.#run;
    this.#records.judged.push({
      ...{ atMs: this.#agenda.nowMs, run: this.#run, owner, seenUs, standing },
      ...{ arrived: { ...arrived.get(owner) }, producers: new Map(producers) },
    });
    if (finding) this.#tell([finding]);
  }

  #noteRises(sights: readonly SeenLock[]): void {
    for (const { owner, expiresUs } of sights) {
      const { known, release, goodbye } = this.#run.arrived.get(owner) ?? {};
      if (known === undefined || (release ?? goodbye) === undefined) continue;
      const highest = this.#highest.get(owner);
      if (highest !== undefined && expiresUs > highest) {
        this.#run.risesSeen.set(owner, (this.#run.risesSeen.get(owner) ?? 0) + 1);
      }
      this.#highest.set(owner, Math.max(highest ?? 0, expiresUs));
    }
  }

  #take(batch: WorldBatch): void {
    const { producer, seq, events, set, serverId, closing } = batch;
    this.#note(batch);
    this.#now();
    const sent = {
      seq,
      serverId,
      closing,
      events: events.map(({ event }) => event),
      ...(set ? { holds: set.reports, more: set.more } : {}),
    };
    this.#tell(this.#bench.send(producer, sent));
  }

  /** What the ledger must know from now on. */
  #note({ producer, seq, events, set, closing, left }: WorldBatch): void {
    const nowMs = this.#agenda.nowMs;
    const before = this.#run.producers.get(producer) ?? NEVER;
    const arrive = (owner: string, what: Arrival) => {
      const arrived = this.#run.arrived.get(owner) ?? {};
      arrived[what] ??= nowMs;
      this.#run.arrived.set(owner, arrived);
    };
    for (const { owner, event, tells } of events) {
      // An answer to a check that the lock is held begins no hold.
      if (event.kind !== 'check' || event.outcome !== 'held') arrive(owner, 'known');
      for (const what of tells) arrive(owner, what);
      if (seq <= before.highest) arrive(owner, 'late');
    }
    if (seq <= before.highest) {
      this.#records.note('a batch came after a later one');
      return;
    }
    for (const { owner, leftMs } of set?.reports ?? []) {
      for (const what of ['known', 'acquire'] as const) arrive(owner, what);
      if (leftMs === 0) arrive(owner, 'lost');
    }
    const inOrder = seq === before.highest + 1;
    if (!inOrder && before.highest > 0) this.#records.note('a batch was missed');
    // The last part of a set looks like a whole one to a run that never saw the first; the client sends it anew at once.
    const isSet = set !== undefined && !set.more;
    const sure = isSet || seq === 1 || (inOrder && before.sure);
    if (!sure) this.#records.note('a client was unsure');
    const closed = before.closed || closing;
    this.#run.producers.set(producer, { heardMs: nowMs, highest: seq, sure, closed });
    for (const owner of left) arrive(owner, 'goodbye');
  }

  #begin(): Run {
    const run: Run = {
      exporter: this.#number,
      epoch: `run-${this.#records.runs.length}`,
      startedMs: this.#agenda.nowMs,
      endedMs: undefined,
      stoodStill: false,
      arrived: new Map(),
      producers: new Map(),
      risesSeen: new Map(),
    };
    this.#records.runs.push(run);
    return run;
  }

  #later(ms: number, act: () => void): void {
    const run = this.#run;
    this.#agenda.in(ms, () => this.#whenRunning(run, act));
  }

  get #isStill(): boolean {
    return this.#stillUntilMs > this.#agenda.nowMs;
  }

  /** What comes while it stands still waits. What was for a run that has ended is lost. */
  #whenRunning(run: Run, act: () => void): void {
    if (run !== this.#run) return;
    if (!this.#isStill) act();
    else this.#agenda.in(this.#stillUntilMs - this.#agenda.nowMs, () => this.#whenRunning(run, act));
  }

  /** Sets the time of the ledger's calls. */
  #now(): number {
    this.#bench.nowMs = 10_000 + this.#agenda.nowMs;
    return this.#bench.nowMs;
  }

  #tell(findings: readonly Finding[]): void {
    const run = this.#run;
    for (const finding of findings) {
      const owner = ownerOf(finding) ?? '';
      const producer = 'holder' in finding ? (finding.holder.producer ?? '') : '';
      const [producing, arrived] = [run.producers.get(producer), { ...run.arrived.get(owner) }];
      this.#records.told.push({ atMs: this.#agenda.nowMs, run, finding, producing, arrived });
    }
  }
}
