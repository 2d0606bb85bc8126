import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Timer } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import type { ResourceClassifier } from '../../contract/resource.js';
import type { SampleRedis } from './connection.js';
import { DutyBudget } from './duty-budget.js';
import { type LockKeys, lockKeys } from './key-pattern.js';
import { KeyspaceView } from './keyspace-view.js';
import type { SamplePort, Schedule, StartSchedule } from './ports.js';
import { type SampledLock, type Sighting, showSighting } from './sighting.js';
import { SnapshotBuilder } from './snapshot.js';
import type { SampleStep } from './step.js';
import { StepSize } from './step-size.js';
import { runSweep, type SweepCounts, type SweepLimits, type SweepOutcome } from './sweep.js';

/** What a sampler works with. */
export interface SamplerOptions {
  readonly store: string;
  readonly redis: Pick<SampleRedis, 'fault' | 'untilReady' | 'onReady' | 'reconnect'>;
  readonly step: SampleStep;
  /** At least one; literal. */
  readonly keyPrefixes: readonly string[];
  readonly classify: ResourceClassifier;
  readonly schedule: StartSchedule;
  /** Largest share of the server's time: above 0, at most 1. */
  readonly dutyShare: number;
  readonly limits?: Partial<SweepLimits>;
  readonly clock: Clock;
  readonly port: SamplePort;
  /** Called when sampling begins to fail or to work, not for each sweep. */
  readonly onChange?: (state: SamplerState) => void;
}

/** Facts of the last good sample. */
export interface LastSample extends SweepCounts {
  readonly takenAtMs: number;
  readonly durationMs: number;
  readonly truncated: boolean;
  /** Lock keys known, those of earlier sweeps of the same round included. */
  readonly known: number;
}

/** How the sampler is. `stale`: no sweep ended when one should have; its sample was withdrawn. */
export interface SamplerState {
  readonly status: 'starting' | 'ok' | 'failed' | 'stale' | 'stopped';
  /** Why the last sweep failed. */
  readonly reason: RedisReason | undefined;
  /** The last good sample, also while later ones fail. */
  readonly last: LastSample | undefined;
  /** Ticks left out because the share of the server's time was spent. */
  readonly skippedTicks: number;
  readonly failedSweeps: number;
}

/** Looks at the lock keys of one Redis again and again. */
export interface Sampler {
  /** Begins with a look at once. */
  start(): void;
  /** Ends the schedule and waits for the running sweep, which ends within one command's time limit. */
  stop(): Promise<void>;
  /** One look, unless one is running or the share of the server's time is spent. Never rejects. */
  tick(): Promise<void>;
  state(): SamplerState;
  /** The locks of the present sample, made one by one as they are asked for; none while there is no good one. */
  locks(): Iterable<SampledLock>;
  /** Some of them, and how many there are of the kind. */
  find(query: LocksQuery): FoundLocks;
}

/** Which locks {@link Sampler.find} gives. */
export interface LocksQuery {
  /** Only of this resource. */
  readonly resource?: string;
  readonly limit: number;
}

/** Locks, and how many there are beyond the limit too. */
export interface FoundLocks {
  readonly matching: number;
  readonly locks: readonly SampledLock[];
}

/** A sweep of more keys would delay everything else in this process; what is beyond comes with the next sweep. */
const MAX_KEYS = 250_000;
const DEADLINE_MS = 10_000;
/** A connection in the making is waited for this long; then the sample fails. */
const READY_MS = 1000;
/** So many sightings are added up in one turn of the event loop: some milliseconds. */
const KEYS_PER_TURN = 10_000;

/** Makes a sampler; nothing is sent before `start()`. */
export function createSampler(options: SamplerOptions): Sampler {
  return new SweepSampler(options);
}

class SweepSampler implements Sampler {
  readonly #options: SamplerOptions;
  readonly #limits: SweepLimits;
  readonly #duty: DutyBudget;
  readonly #view: KeyspaceView;
  readonly #size = new StepSize();
  readonly #lockKeys: LockKeys;
  #state: SamplerState = {
    status: 'starting',
    reason: undefined,
    last: undefined,
    skippedTicks: 0,
    failedSweeps: 0,
  };
  /** Where the next sweep starts. */
  #cursor = '0';
  #schedule: Schedule | undefined;
  #running: Promise<void> | undefined;
  #stale: Timer | undefined;

  constructor(options: SamplerOptions) {
    this.#options = options;
    this.#limits = { deadlineMs: DEADLINE_MS, maxKeys: MAX_KEYS, ...options.limits };
    this.#duty = new DutyBudget(options.dutyShare);
    this.#view = new KeyspaceView(options.classify);
    this.#lockKeys = lockKeys(options.keyPrefixes);
  }

  start(): void {
    const { port, store, redis, schedule } = this.#options;
    port.withdrawSample(store, 'connection');
    this.#schedule = schedule(() => this.tick());
    // Back again: no need to wait for the schedule to say so.
    redis.onReady(() => {
      if (this.#state.status === 'failed') void this.tick();
    });
    void this.tick();
  }

  async stop(): Promise<void> {
    this.#schedule?.stop();
    this.#stale?.cancel();
    this.#state = { ...this.#state, status: 'stopped' };
    await this.#running;
  }

  tick(): Promise<void> {
    if (this.#state.status === 'stopped') return Promise.resolve();
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  state(): SamplerState {
    return this.#state;
  }

  *locks(): Iterable<SampledLock> {
    if (this.#state.status !== 'ok') return;
    for (const sighting of this.#view.values()) yield this.#show(sighting);
  }

  find({ resource, limit }: LocksQuery): FoundLocks {
    const locks: SampledLock[] = [];
    let matching = 0;
    if (this.#state.status !== 'ok') return { matching, locks };
    for (const sighting of this.#view.values()) {
      if (resource !== undefined && sighting.resource !== resource) continue;
      matching += 1;
      if (locks.length < limit) locks.push(this.#show(sighting));
    }
    return { matching, locks };
  }

  #show(sighting: Sighting): SampledLock {
    return showSighting(sighting, this.#options.store, this.#options.clock.monoMs());
  }

  async #look(): Promise<void> {
    const { clock, redis } = this.#options;
    if (this.#duty.waitMs(clock.monoMs()) > 0) {
      this.#state = { ...this.#state, skippedTicks: this.#state.skippedTicks + 1 };
      return;
    }
    await redis.untilReady(READY_MS);
    const startMs = clock.monoMs();
    const start = this.#cursor;
    const outcome = await this.#sweep(start);
    this.#duty.spend(startMs, outcome.counts.costUs);
    // While stopping nothing is published any more, and nothing withdrawn: the last sample is still true.
    if (this.#state.status === 'stopped') return;
    if (outcome.kind === 'failed') this.#fail(outcome.reason);
    else await this.#succeed(outcome, start !== '0', startMs);
  }

  /** A connection that is known to be faulty is not asked: its answers would be another database's. */
  #sweep(start: string): Promise<SweepOutcome> {
    const { step, clock, redis } = this.#options;
    const reason = redis.fault();
    if (reason !== undefined) {
      const counts = { keys: 0, vanished: 0, moved: 0, steps: 0, costUs: 0 };
      return Promise.resolve({ kind: 'failed', counts, reason });
    }
    return runSweep(start, {
      step,
      clock,
      view: this.#view,
      size: this.#size,
      lockKeys: this.#lockKeys,
      limits: this.#limits,
      stopping: () => this.#state.status === 'stopped',
    });
  }

  #fail(failure: RedisReason): void {
    const { port, store, redis } = this.#options;
    const known = redis.fault();
    const reason = failure === 'connection' ? (known ?? failure) : failure;
    // A connection that keeps silent, or that is not what it should be, does not mend by waiting.
    if (failure === 'command_timeout' || known !== undefined) redis.reconnect();
    this.#cursor = '0';
    this.#stale?.cancel();
    port.sampleError(store, reason);
    port.withdrawSample(store, reason);
    this.#change({ status: 'failed', reason, failedSweeps: this.#state.failedSweeps + 1 });
  }

  async #succeed(outcome: SweepOutcome, resumed: boolean, startMs: number): Promise<void> {
    const { clock, port, store } = this.#options;
    const done = outcome.kind === 'done';
    this.#view.end(done, clock.monoMs(), this.#limits.maxKeys);
    this.#cursor = outcome.kind === 'cut' ? outcome.cursor : '0';
    const summaries = new SnapshotBuilder();
    let added = 0;
    for (const sighting of this.#view.values()) {
      summaries.add(sighting);
      added += 1;
      if (added % KEYS_PER_TURN === 0) await nextTurn();
    }
    if (this.#state.status === 'stopped') return;
    const truncated = !done || resumed;
    const takenAtMs = clock.wallMs();
    const monoMs = clock.monoMs();
    const durationMs = monoMs - startMs;
    const resources = summaries.finish({ wallMs: takenAtMs, monoMs });
    port.publishSample({ store, takenAtMs, durationMs, truncated, resources });
    if (outcome.counts.moved > 0) port.sampleError(store, 'moved');
    const last = { ...outcome.counts, takenAtMs, durationMs, truncated, known: added };
    this.#change({ status: 'ok', reason: undefined, last });
    this.#watchAge();
  }

  /** The next sample is due after the next tick that the budget allows; then it may take its time. */
  #watchAge(): void {
    const { clock } = this.#options;
    const gapMs = this.#schedule?.msToNext() ?? 0;
    const dueMs = this.#duty.waitMs(clock.monoMs()) + 2 * gapMs + READY_MS + 2 * this.#limits.deadlineMs;
    this.#stale?.cancel();
    this.#stale = clock.setTimer(() => this.#goStale(), dueMs);
  }

  #goStale(): void {
    const { port, store } = this.#options;
    port.withdrawSample(store, 'other');
    this.#change({ status: 'stale', reason: 'other' });
  }

  #change(to: Partial<SamplerState>): void {
    const before = this.#state;
    this.#state = { ...before, ...to };
    const { status, reason } = this.#state;
    if (status !== before.status || reason !== before.reason) this.#options.onChange?.(this.#state);
  }
}
