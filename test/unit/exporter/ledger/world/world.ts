import type { Random } from '../../../../../contract/clock.js';
import { Agenda } from './agenda.js';
import { Exporter, type Records } from './exporter.js';
import { type Ids, Process, type Surroundings } from './process.js';
import { type Fencing, Redis } from './redis.js';
import type { TrueHold } from './truth.js';

/** What a world is made of; drawn by the property test. */
export interface Step {
  /** Time until the next step, in ms. */
  readonly waitMs: number;
  readonly process: number;
  readonly lock: number;
  readonly act: Act;
}

export const ACTS = [
  'acquire',
  'settle',
  'zombie',
  'stall',
  'die',
  'leave',
  'delete',
  'flush',
  'failover',
  'drop',
  'refuse',
  'restart',
  'stand still',
  'rest',
] as const;
export type Act = (typeof ACTS)[number];

/** What differs between worlds. */
export interface Setting {
  /** One for all clients, or one beside each process. */
  readonly exporters: 1 | 3;
  readonly ids: Ids;
}

/** The first two have leases on both sides of a stall; the last is another library's, which counts its fences. */
const LOCKS: readonly { leaseMs: number; fencing: Fencing }[] = [
  { leaseMs: 2000, fencing: 'clock' },
  { leaseMs: 10_000, fencing: 'clock' },
  { leaseMs: 3000, fencing: 'count' },
];
const LOOK_EVERY_MS = 2500;
const SWEEP_EVERY_MS = 4000;
/** Whatever was begun has settled, and whatever is waited for has been told. */
const RUN_OFF_MS = 50_000;

/** One truth: three locks, three processes, Redis servers that follow each other, and one exporter or one for each process. */
export class World {
  readonly holds: TrueHold[] = [];
  readonly situations = new Set<string>();
  readonly records: Records = {
    holds: this.holds,
    told: [],
    judged: [],
    looks: new Map(),
    counted: [],
    runs: [],
    note: (situation) => this.situations.add(situation),
  };
  readonly redis: Redis;
  readonly ids: Ids;
  /** Producers that died. */
  readonly dead = new Set<string>();
  readonly #random: Random;
  readonly #agenda = new Agenda();
  readonly #around: Surroundings;
  readonly #exporters: Exporter[];
  readonly #processes: Process[];
  readonly #leaving: Process[] = [];
  #names = 0;

  constructor(random: Random, { exporters, ids }: Setting) {
    const [agenda, records] = [this.#agenda, this.records];
    this.#random = random;
    this.ids = ids;
    this.#around = { agenda, random, records, ids, holds: this.holds };
    this.redis = new Redis(agenda, random);
    // On a cluster the sampler asks each node for its id, though the clients do not know it.
    const namesServers = ids === 'known' || random() < 0.5;
    const world = { agenda, random, records, namesServers };
    this.#exporters = Array.from({ length: exporters }, (_, at) => new Exporter(at, world));
    this.#processes = [0, 1, 2].map((at) => this.#startProcess(at));
    agenda.every(200, () => this.#live());
    agenda.every(1000, () => this.#toEach((exporter) => exporter.tick()));
    agenda.every(LOOK_EVERY_MS, () => this.#toEach((exporter) => exporter.look(this.redis.master)));
    agenda.every(SWEEP_EVERY_MS, () => this.#toEach((exporter) => exporter.sweep(this.redis.master)));
  }

  run(steps: readonly Step[]): void {
    for (const step of steps) {
      this.#agenda.advance(step.waitMs);
      this.#do(step);
    }
    for (const process of this.#processes) {
      for (const hold of process.holds)
        this.#agenda.in(5000 + this.#random() * 3000, () => process.settle(hold, false));
    }
    this.#agenda.advance(RUN_OFF_MS);
  }

  #live(): void {
    for (const process of [...this.#processes, ...this.#leaving]) process.live();
  }

  #toEach(act: (exporter: Exporter) => void): void {
    for (const exporter of this.#exporters) act(exporter);
  }

  #do({ act, process: at, lock }: Step): void {
    const process = this.#processes[at];
    const exporter = this.#exporterOf(at);
    if (!process) return;
    switch (act) {
      case 'acquire':
        this.#acquire(process, lock);
        break;
      case 'settle':
        this.#settle(process, false);
        break;
      case 'zombie':
        this.#settle(process, true);
        break;
      case 'stall':
        process.stall(500 + this.#random() * 4000);
        break;
      case 'die':
        process.die();
        this.dead.add(process.name);
        this.#processes[at] = this.#startProcess(at);
        break;
      case 'leave':
        process.leave(this.#random() < 0.7);
        this.#leaving.push(process);
        this.#processes[at] = this.#startProcess(at);
        break;
      case 'delete':
        this.redis.master.deleteKeys();
        break;
      case 'flush':
        this.records.note('fences were lost');
        this.redis.master.flush();
        break;
      case 'failover':
        this.#failOver();
        break;
      case 'drop':
        process.emitter.drop();
        break;
      case 'refuse':
        process.emitter.refuseNext();
        break;
      case 'restart':
        if (process.holds.size > 0) this.records.note('an exporter was restarted while a client held');
        exporter.restart();
        break;
      case 'stand still':
        exporter.standStill();
        break;
      case 'rest':
        break;
      default:
        act satisfies never;
    }
  }

  #acquire(process: Process, at: number): void {
    const { leaseMs, fencing } = LOCKS[at] ?? { leaseMs: 1000, fencing: 'none' };
    if (!process.awake) return;
    this.#names += 1;
    process.acquire({
      lock: `000000000000000${at}`,
      owner: this.#names.toString(16).padStart(16, 'a'),
      leaseMs,
      fencing: fencing === 'clock' && this.#random() < 0.1 ? 'none' : fencing,
      watchdog: this.#random() < 0.4,
    });
  }

  #settle(process: Process, runsOn: boolean): void {
    if (!process.awake) return;
    for (const hold of process.holds) process.settle(hold, runsOn || this.#random() < 0.12, runsOn);
  }

  #failOver(): void {
    const had = this.redis.master.look().length > 0;
    const keeps = this.redis.failOver();
    if (had) this.records.note(keeps ? 'a failover kept the keys' : 'a failover lost keys');
    for (const process of [...this.#processes, ...this.#leaving]) {
      const staysMs = this.#random() < 0.25 ? 1000 + this.#random() * 5000 : 0;
      if (staysMs > 0) this.records.note('a client stayed with the old master');
      this.#agenda.in(staysMs, () => process.connect(this.redis.master));
    }
  }

  #startProcess(at: number): Process {
    this.#names += 1;
    return new Process(`process-${at}-${this.#names}`, this.redis.master, this.#exporterOf(at), this.#around);
  }

  #exporterOf(at: number): Exporter {
    const exporter = this.#exporters[at % this.#exporters.length];
    if (!exporter) throw new Error('a world has at least one exporter');
    return exporter;
  }
}
