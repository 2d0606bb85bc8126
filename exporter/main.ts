import { randomUUID } from 'node:crypto';
import type { Clock, Random, Timer } from '../contract/clock.js';
import type { Log } from './cli/log.js';
import { DEFAULT_POLICY } from './config/resource-policy.js';
import type { Settings } from './config/settings.js';
import { type Listener, listen } from './http/listen.js';
import { createLocalApp } from './http/local-app.js';
import { answerLocks } from './http/locks-answer.js';
import { createMetricsApp } from './http/metrics-app.js';
import { answerStatus, type Listeners } from './http/status-answer.js';
import { createTokenSource } from './http/token-file.js';
import { createIngest, type Ingest } from './ingest/ingest.js';
import type { IngestPorts } from './ingest/ports.js';
import { LockWatch } from './lock-watch.js';
import type { Metrics } from './metrics/ports.js';
import { createMetrics } from './metrics/recorder.js';
import type { ReadFile } from './redis-settings.js';
import type { SamplePort } from './sampler/ports.js';
import { makeSampling, type Sampling, type SamplingSurroundings } from './sampling.js';

/** What an exporter needs of the process around it. */
export interface ExporterSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  readonly readFile: ReadFile;
  /** Add Node's process metrics. Default true; each true starts watches that last with the process. */
  readonly processMetrics?: boolean;
}

/** An exporter that listens and samples. Several may live in one process. */
export interface RunningExporter {
  /** `http://host:port`, with the real port. */
  readonly metricsAddress: string;
  /** The same, or `unix:/path`. */
  readonly localAddress: string;
  /**
   * Ends it in order: sampling; after the grace, in which events are still taken and metrics served, the local
   * listener, which refuses with 503 for up to a second (not longer than the grace) before it closes; the metrics
   * last. May be repeated. Never rejects.
   */
  stop(): Promise<void>;
}

/** How long clients are told to come back later before nobody answers them: one round of their retries. */
const REFUSE_MS = 1000;
/** Requests under way at the end have this long. */
const CLOSE_GRACE_MS = 1000;
const FORGET_EVERY_MS = 60_000;

/**
 * Builds an exporter from its parts and starts it.
 * @throws RedisLockError `listen_failed`; nothing is left running then
 */
export async function startExporter(
  settings: Settings,
  around: ExporterSurroundings,
): Promise<RunningExporter> {
  const exporter = new Exporter(settings, around);
  await exporter.start();
  return exporter;
}

class Exporter implements RunningExporter {
  readonly #settings: Settings;
  readonly #around: ExporterSurroundings;
  readonly #epoch = randomUUID();
  readonly #startedAtMs: number;
  readonly #startedMonoMs: number;
  readonly #metrics: Metrics;
  readonly #watch: LockWatch;
  readonly #ingest: Ingest;
  readonly #sampling: Sampling | undefined;
  #metricsListener: Listener | undefined;
  #localListener: Listener | undefined;
  #phase: 'starting' | 'serving' | 'closing' = 'starting';
  #stopped: Promise<void> | undefined;
  #forgetTimer: Timer | undefined;

  constructor(settings: Settings, around: ExporterSurroundings) {
    const { clock, version, processMetrics = true } = around;
    const firstIncrementHoldMs = settings.firstIncrementHoldMs;
    this.#settings = settings;
    this.#around = around;
    this.#startedAtMs = clock.wallMs();
    this.#startedMonoMs = clock.monoMs();
    const policies = { store: settings.store, byResource: settings.policies, byDefault: DEFAULT_POLICY };
    this.#metrics = createMetrics({ clock, version, firstIncrementHoldMs, policies, processMetrics });
    this.#watch = new LockWatch({
      store: settings.store,
      clock,
      random: around.random,
      log: around.log,
      metrics: this.#metrics,
      reportFault: this.#reportFault,
      sampledKeys: () => this.#sampling?.sampler.sweptKeys() ?? [],
    });
    this.#ingest = createIngest({
      store: settings.store,
      epoch: this.#epoch,
      clock,
      ports: this.#ingestPorts(),
    });
    this.#sampling =
      settings.sampleMode === 'off' ? undefined : makeSampling(settings, this.#samplingSurroundings());
  }

  get metricsAddress(): string {
    return urlOf(this.#metricsListener);
  }

  get localAddress(): string {
    return urlOf(this.#localListener);
  }

  async start(): Promise<void> {
    try {
      await this.#listen();
    } catch (error) {
      await this.#closeAll();
      throw error;
    }
    this.#phase = 'serving';
    this.#watch.start();
    this.#sampling?.start();
    this.#forgetIdle();
    const { metrics, local } = this.#listeners();
    this.#around.log.info('listening', { metrics, local, store: this.#settings.store });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #listen(): Promise<void> {
    const { clock } = this.#around;
    const { metricsListen, localListen } = this.#settings;
    const reportFault = this.#reportFault;
    const optionsOf = (listener: ListenerName) => ({
      clock,
      reportFault,
      countRefusal: this.#counterOf(listener),
    });
    this.#metricsListener = await listen(this.#metricsApp(), metricsListen, optionsOf('metrics'));
    this.#localListener = await listen(this.#localApp(), localListen, optionsOf('local'));
  }

  async #stop(): Promise<void> {
    const graceMs = this.#settings.shutdownGraceMs;
    await this.#sampling?.stop();
    this.#around.log.debug('sampling has ended; events are still taken', { graceMs });
    await this.#pause(graceMs);
    this.#phase = 'closing';
    await this.#pause(Math.min(REFUSE_MS, graceMs));
    await this.#closeAll();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#around.clock.setTimer(resolve, ms));
  }

  async #closeAll(): Promise<void> {
    this.#phase = 'closing';
    this.#forgetTimer?.cancel();
    this.#watch.stop();
    await this.#sampling?.stop();
    this.#sampling?.close();
    await this.#localListener?.close(CLOSE_GRACE_MS);
    await this.#metricsListener?.close(CLOSE_GRACE_MS);
  }

  #metricsApp() {
    return createMetricsApp({
      clock: this.#around.clock,
      reportFault: this.#reportFault,
      countRefusal: this.#counterOf('metrics'),
      renderMetrics: () => this.#metrics.render(),
      contentType: this.#metrics.contentType,
      isReady: () => this.#phase === 'serving',
    });
  }

  #localApp() {
    const { clock, readFile } = this.#around;
    const { store, revealKeys, tokenFile } = this.#settings;
    const holderOf = (owner: string) => this.#watch.holderOf(owner);
    return createLocalApp({
      clock,
      reportFault: this.#reportFault,
      countRefusal: this.#counterOf('local'),
      receiveBatch: (body) => this.#ingest.receive(body),
      status: () => this.#status(),
      findings: () => this.#watch.findings(),
      timeline: (lock) => this.#watch.timeline(lock),
      timelineOfKey: (key) => this.#watch.timelineOfKey(key),
      hot: (limit) => this.#watch.hot(limit),
      locks: (query) => answerLocks(query, store, this.#sampling?.sampler, { revealKeys, holderOf }),
      counters: this.#metrics.counters,
      isClosing: () => this.#phase === 'closing',
      ...(tokenFile === undefined ? {} : { tokens: createTokenSource(tokenFile, readFile, clock) }),
    });
  }

  #samplingSurroundings(): SamplingSurroundings {
    const { clock, random, log, readFile } = this.#around;
    const reportFault = this.#reportFault;
    const port = joinSamples(this.#metrics, this.#watch);
    return { clock, random, log, readFile, reportFault, port, heldPort: this.#watch };
  }

  #ingestPorts(): IngestPorts {
    return {
      events: {
        applyEvent: (event, context) => {
          this.#sampling?.heldKeys.applyEvent(event);
          this.#watch.applyEvent(event, context);
        },
      },
      holds: {
        applyHolds: (holds, complete, context) => {
          this.#sampling?.heldKeys.applyHolds(holds);
          this.#watch.applyHolds(holds, complete, context);
        },
      },
      heartbeat: this.#watch,
      counters: this.#metrics.counters,
      reportFault: this.#reportFault,
    };
  }

  #status() {
    const { clock, version } = this.#around;
    return answerStatus({
      store: this.#settings.store,
      sampleMode: this.#settings.sampleMode,
      epoch: this.#epoch,
      version,
      startedAtMs: this.#startedAtMs,
      upMs: clock.monoMs() - this.#startedMonoMs,
      sampler: this.#sampling?.sampler.state(),
      ingest: this.#metrics.counters.totals(),
      ledger: this.#watch.size(),
      listeners: this.#listeners(),
    });
  }

  #listeners(): Listeners {
    return { metrics: this.metricsAddress, local: this.localAddress };
  }

  #forgetIdle(): void {
    if (this.#phase === 'closing') return;
    this.#ingest.forgetIdle();
    this.#forgetTimer = this.#around.clock.setTimer(() => this.#forgetIdle(), FORGET_EVERY_MS);
  }

  #counterOf(listener: ListenerName): (reason: string) => void {
    return (reason) => this.#metrics.countRefusal(listener, reason);
  }

  /** The stack holds no values; the message of an unknown error could. */
  #reportFault = (error: unknown): void => {
    const name = error instanceof Error ? error.name : typeof error;
    const stack = error instanceof Error ? error.stack?.split('\n').slice(1).join('\n') : undefined;
    this.#around.log.error('a fault of this program', { name, stack });
  };
}

/** The watch hears of each sample that is published or withdrawn. */
function joinSamples(metrics: Metrics, watch: LockWatch): SamplePort {
  return {
    ...metrics,
    publishSample: (sample) => {
      metrics.publishSample(sample);
      watch.sampled();
    },
    withdrawSample: (store, reason) => {
      metrics.withdrawSample(store, reason);
      watch.sampleWithdrawn();
    },
  };
}

type ListenerName = 'metrics' | 'local';

function urlOf(listener: Listener | undefined): string {
  const address = listener?.address ?? '';
  return address === '' || address.startsWith('unix:') ? address : `http://${address}`;
}
