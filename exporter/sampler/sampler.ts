import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Timer } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import { READY_MS } from './node-sweeper.js';
import type { DownReason, SamplePort, Schedule, SkipReason, StartSchedule } from './ports.js';
import type { LookOutcome, SampleSource } from './sample-source.js';
import { joinable, type SampledLock, type Sighting, type SweptSighting, showSighting } from './sighting.js';
import { SnapshotBuilder } from './snapshot.js';
import type { SweepCounts } from './sweep.js';

/** What a sampler works with. */
export interface SamplerOptions {
  readonly store: string;
  readonly source: SampleSource;
  /** Calls back each time a connection works again. */
  readonly onReady: (callback: () => void) => void;
  readonly schedule: StartSchedule;
  /** How long a look may take. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly port: SamplePort;
  /** Hears of a fault of this program: the look it broke counts as failed with reason `other`. */
  readonly reportFault: (error: unknown) => void;
  /** Called when sampling begins to fail or to work, not for each look. */
  readonly onChange?: (state: SamplerState) => void;
}

/** Facts of the last good sample. */
export interface LastSample extends SweepCounts {
  readonly takenAtMs: number;
  readonly durationMs: number;
  readonly truncated: boolean;
  /** What failed in a part of it. */
  readonly faults: readonly RedisReason[];
  /** Lock keys known, those of earlier looks of the same round included. */
  readonly known: number;
}

/** How the sampler is. `stale`: no look ended when one should have; its sample was withdrawn. */
export interface SamplerState {
  readonly status: 'starting' | 'ok' | 'failed' | 'stale' | 'stopped';
  /** Why there is no good sample; undefined when there is one. */
  readonly reason: DownReason | undefined;
  /** The last good sample, also while later ones fail. */
  readonly last: LastSample | undefined;
  /** Ticks left out. */
  readonly skippedTicks: number;
  readonly failedLooks: number;
}

/** Looks at the lock keys of one Redis again and again. */
export interface Sampler {
  /** Begins with a look at once. */
  start(): void;
  /** Ends the schedule and waits for the running look, which ends within one command's time limit. Never rejects. */
  stop(): Promise<void>;
  /** One look, unless one is running or the share of the server's time is spent. Never rejects. */
  tick(): Promise<void>;
  state(): SamplerState;
  /** The locks of the present sample, made one by one as they are asked for; none while there is no good one. */
  locks(): Iterable<SampledLock>;
  /** The same, as far as joining them with events needs it. */
  sweptKeys(): Iterable<SweptSighting>;
  /** The first of them, of this resource or of all, and how many there are beyond the limit too. */
  find(resource: string | undefined, limit: number): FoundLocks;
}

/** Locks, and how many there are beyond the limit too. */
export interface FoundLocks {
  readonly matching: number;
  readonly locks: readonly SampledLock[];
}

/** So many sightings are added up in one turn of the event loop: some milliseconds. */
const KEYS_PER_TURN = 10_000;

/** Makes a sampler; nothing is sent before `start()`. */
export function createSampler(options: SamplerOptions): Sampler {
  return new RepeatedSampler(options);
}

class RepeatedSampler implements Sampler {
  readonly #options: SamplerOptions;
  #state: SamplerState = {
    status: 'starting',
    reason: 'starting',
    last: undefined,
    skippedTicks: 0,
    failedLooks: 0,
  };
  #schedule: Schedule | undefined;
  #running: Promise<void> | undefined;
  #stale: Timer | undefined;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  start(): void {
    const { port, store, onReady, schedule } = this.#options;
    port.withdrawSample(store, 'starting');
    this.#schedule = schedule(() => this.tick());
    // Back again: no need to wait for the schedule to say so.
    onReady(() => {
      if (this.#state.status === 'failed') void this.#lookOnce();
    });
    void this.#lookOnce();
  }

  async stop(): Promise<void> {
    this.#schedule?.stop();
    this.#stale?.cancel();
    this.#state = { ...this.#state, status: 'stopped' };
    await this.#running;
  }

  tick(): Promise<void> {
    if (this.#running !== undefined && this.#state.status !== 'stopped') this.#skip('busy');
    return this.#lookOnce();
  }

  state(): SamplerState {
    return this.#state;
  }

  *locks(): Iterable<SampledLock> {
    if (this.#state.status !== 'ok') return;
    for (const sighting of this.#options.source.sightings()) yield this.#show(sighting);
  }

  *sweptKeys(): Iterable<SweptSighting> {
    if (this.#state.status !== 'ok') return;
    const { source, clock } = this.#options;
    for (const sighting of source.sightings()) yield joinable(sighting, clock.monoMs());
  }

  find(resource: string | undefined, limit: number): FoundLocks {
    const locks: SampledLock[] = [];
    let matching = 0;
    if (this.#state.status !== 'ok') return { matching, locks };
    for (const sighting of this.#options.source.sightings()) {
      if (resource !== undefined && sighting.resource !== resource) continue;
      matching += 1;
      if (locks.length < limit) locks.push(this.#show(sighting));
    }
    return { matching, locks };
  }

  #show(sighting: Sighting): SampledLock {
    return showSighting(sighting, this.#options.store, this.#options.clock.monoMs());
  }

  #lookOnce(): Promise<void> {
    if (this.#state.status === 'stopped') return Promise.resolve();
    this.#running ??= this.#look()
      .catch((error: unknown) => this.#break(error))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #look(): Promise<void> {
    const { clock, source } = this.#options;
    if (source.waitMs() > 0) {
      this.#skip('duty');
      return;
    }
    const startMs = clock.monoMs();
    const outcome = await source.look();
    // While stopping nothing is published any more, and nothing withdrawn: the last sample is still true.
    if (this.#state.status === 'stopped' || outcome.kind === 'stopped') return;
    if (outcome.kind === 'failed') this.#fail(outcome.reason);
    else await this.#succeed(outcome, startMs);
  }

  #skip(reason: SkipReason): void {
    this.#state = { ...this.#state, skippedTicks: this.#state.skippedTicks + 1 };
    this.#options.port.sampleSkipped(this.#options.store, reason);
  }

  /** A fault of this program ends one look, not the process, nor all looks to come. */
  #break(error: unknown): void {
    const { reportFault, source } = this.#options;
    reportFault(error);
    try {
      source.forget();
      if (this.#state.status !== 'stopped') this.#fail('other');
    } catch (another) {
      reportFault(another);
    }
  }

  #fail(reason: Exclude<DownReason, 'starting' | 'stale'>): void {
    const { port, store } = this.#options;
    this.#stale?.cancel();
    const failedLooks = this.#state.failedLooks + 1;
    // First the state, so that it is true even if the port or a listener throws.
    const announce = this.#change({ status: 'failed', reason, failedLooks });
    port.sampleError(store, reason);
    port.withdrawSample(store, reason);
    announce();
  }

  async #succeed(outcome: LookOutcome & { kind: 'good' }, startMs: number): Promise<void> {
    const { clock, port, store, source } = this.#options;
    const summaries = new SnapshotBuilder();
    let known = 0;
    for (const sighting of source.sightings()) {
      summaries.add(sighting);
      known += 1;
      if (known % KEYS_PER_TURN === 0) await nextTurn();
    }
    if (this.#state.status === 'stopped') return;
    const { counts, truncated, faults } = outcome;
    const takenAtMs = clock.wallMs();
    const monoMs = clock.monoMs();
    const durationMs = monoMs - startMs;
    const resources = summaries.finish({ wallMs: takenAtMs, monoMs });
    const changes = source.takeChanges();
    const ignoredKeys = counts.ignored;
    port.publishSample({ store, takenAtMs, durationMs, truncated, ignoredKeys, resources, changes });
    for (const reason of faults) port.sampleError(store, reason);
    const last = { ...counts, takenAtMs, durationMs, truncated, faults, known };
    this.#watchAge();
    this.#change({ status: 'ok', reason: undefined, last })();
  }

  /** The next sample is due after the next tick that the budget allows; then it may take its time. */
  #watchAge(): void {
    const { clock, source, deadlineMs } = this.#options;
    const gapMs = this.#schedule?.msToNext() ?? 0;
    const dueMs = source.waitMs() + 2 * gapMs + READY_MS + 2 * deadlineMs;
    this.#stale?.cancel();
    this.#stale = clock.setTimer(() => this.#goStale(), dueMs);
  }

  #goStale(): void {
    const { port, store } = this.#options;
    port.withdrawSample(store, 'stale');
    this.#change({ status: 'stale', reason: 'stale' })();
  }

  /** Takes over the state, and gives what tells others of it. */
  #change(to: Partial<SamplerState>): () => void {
    const before = this.#state;
    this.#state = { ...before, ...to };
    const { status, reason } = this.#state;
    if (status === before.status && reason === before.reason) return () => {};
    return () => this.#options.onChange?.(this.#state);
  }
}
