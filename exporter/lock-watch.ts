import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Hold } from '../contract/batch.js';
import type { Clock, Random, Timer } from '../contract/clock.js';
import type { LockEvent, LostEvent } from '../contract/event.js';
import { lockId } from '../contract/lock-id.js';
import type { Log } from './cli/log.js';
import { FindingLog } from './finding-log.js';
import { RecentFindings, type ShownFinding } from './findings.js';
import type { Finding, Party } from './ledger/finding.js';
import { HotKeys, type HotLock, type HotReport } from './ledger/hot-keys.js';
import { createLedger, type Ledger, type LedgerSize } from './ledger/ledger.js';
import type { BatchFacts, HeldKeyLook, SweptKey } from './ledger/ports.js';
import { type TimelineEntry, Timelines } from './ledger/timeline.js';
import type { KeyStandings, Metrics } from './metrics/ports.js';

/** What the watch needs of the exporter around it. */
export interface LockWatchOptions {
  readonly store: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly reportFault: (error: unknown) => void;
  /** The keys of the present sample; none while there is no good one. */
  readonly sampledKeys: () => Iterable<SweptKey>;
}

/** The answer of `/api/v1/findings`: the youngest first. */
export interface FindingsAnswer {
  readonly store: string;
  /** Since the start, those that are gone from the list included. */
  readonly total: number;
  readonly findings: readonly ShownFinding[];
}

/** The answer of `/api/v1/timeline`: what is remembered of one lock, in the order in which it arrived here. */
export interface TimelineAnswer {
  readonly store: string;
  readonly lock: string;
  readonly entries: readonly TimelineEntry[];
}

/** The answer of `/api/v1/hot`: the last full window. */
export interface HotAnswer {
  readonly store: string;
  readonly windowMs: number;
  /** Wall time of the window's end; `null` before the first is over. */
  readonly endedAtMs: number | null;
  /** False before the first window is over: the rest of the answer says nothing then. */
  readonly windowComplete: boolean;
  /** Wall time at which the present window ends, and its locks are told. */
  readonly nextAtMs: number;
  readonly attempts: number;
  readonly errorBound: number;
  /** The hottest first. */
  readonly locks: readonly HotLock[];
}

const TICK_MS = 1000;
/** Keys joined with clients in one turn of the event loop: a few milliseconds. */
const KEYS_PER_TURN = 1000;

/** Follows every lock by what clients report and what is seen in Redis: ledger, findings, timelines and hot keys together. */
export class LockWatch {
  readonly #options: LockWatchOptions;
  readonly #ledger: Ledger;
  readonly #timelines = new Timelines();
  readonly #hotKeys: HotKeys;
  /** What the series of hot locks show. */
  #shownHot: HotReport;
  readonly #findings = new RecentFindings();
  readonly #findingLog: FindingLog;
  readonly #evicted = { holds: 0, ended: 0, producers: 0, timeline: 0 };
  #timer: Timer | undefined;
  #joining: Promise<void> | undefined;
  #joinWanted = false;
  /** Rises when the sample is withdrawn, so that a join that was under way publishes nothing. */
  #withdrawals = 0;

  constructor(options: LockWatchOptions) {
    this.#options = options;
    this.#ledger = createLedger({ store: options.store, seed: options.random() * 2 ** 32 });
    this.#hotKeys = new HotKeys(options.clock.monoMs());
    this.#shownHot = this.#hotKeys.report();
    this.#findingLog = new FindingLog(options.log);
  }

  start(): void {
    this.#timer = this.#options.clock.setTimer(() => {
      this.tick();
      this.start();
    }, TICK_MS);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#withdrawals += 1;
  }

  /** Takes an accepted event, and counts it. */
  applyEvent(event: LockEvent, batch: BatchFacts): void {
    const { metrics, store } = this.#options;
    // A loss that a sample told before is counted already.
    const told = event.kind === 'lost' && this.#ledger.hasToldLoss(event.owner);
    if (!told) metrics.recordEvent(event, store);
    this.#timelines.note(event, batch);
    this.#hotKeys.applyEvent(event, batch.receivedMonoMs);
    const findings = this.#ledger.applyEvent(event, batch);
    if (event.kind === 'lost' && !told) this.#tellLoss(event, batch);
    this.#tell(findings);
  }

  applyHolds(holds: readonly Hold[], complete: boolean, batch: BatchFacts): void {
    this.#tell(this.#ledger.applyHolds(holds, complete, batch));
  }

  heartbeat(batch: BatchFacts): void {
    this.#tell(this.#ledger.heartbeat(batch));
  }

  /** Takes a look on the master at all held keys. */
  heldLooked({ looks }: { readonly looks: Iterable<HeldKeyLook> }): void {
    this.#tell(this.#ledger.looked(looks, this.#options.clock.monoMs()));
  }

  /** A sample was published: its keys are joined with the clients, a part in each turn of the event loop. */
  sampled(): void {
    this.#joinWanted = true;
    this.#joining ??= this.#joinAll()
      .catch(this.#options.reportFault)
      .finally(() => {
        this.#joining = undefined;
      });
  }

  /** The sample is no longer true. */
  sampleWithdrawn(): void {
    this.#withdrawals += 1;
    this.#joinWanted = false;
    this.#options.metrics.publishStandings(this.#options.store, []);
  }

  /** Finds what time alone brings, and publishes the gauges. Called every second. */
  tick(): void {
    const { clock, metrics, store } = this.#options;
    const nowMs = clock.monoMs();
    this.#tell(this.#ledger.tick(nowMs));
    metrics.publishHolders(store, this.#ledger.holders());
    this.#hotKeys.tick(nowMs);
    this.#publishHotLocks();
    this.#countEvicted();
  }

  size(): LedgerSize {
    return this.#ledger.size();
  }

  findings(): FindingsAnswer {
    return { store: this.#options.store, total: this.#findings.total, findings: this.#findings.list() };
  }

  timeline(lock: string): TimelineAnswer {
    return { store: this.#options.store, lock, entries: this.#timelines.read(lock) };
  }

  /** The timeline of a key as Redis stores it. */
  timelineOfKey(key: string | Uint8Array): TimelineAnswer {
    return this.timeline(lockId(this.#options.store, key));
  }

  hot(limit: number): HotAnswer {
    const { store, clock } = this.#options;
    this.#hotKeys.tick(clock.monoMs());
    const { endedMonoMs, locks, ...report } = this.#hotKeys.report();
    const wallOf = (monoMs: number) => clock.wallMs() - clock.monoMs() + monoMs;
    return {
      store,
      ...report,
      endedAtMs: endedMonoMs === undefined ? null : wallOf(endedMonoMs),
      windowComplete: endedMonoMs !== undefined,
      nextAtMs: wallOf(this.#hotKeys.endsMonoMs),
      locks: locks.slice(0, limit),
    };
  }

  /** The holder of a key by its owner digest; undefined when it was never reported here, or is forgotten. */
  holderOf(owner: string): Party | undefined {
    return this.#ledger.holderOf(owner);
  }

  /** The event itself is counted, and stands on the timeline. */
  #tellLoss(event: LostEvent, batch: BatchFacts): void {
    const { clock } = this.#options;
    const loss = this.#ledger.describeLoss(event, batch);
    if (!loss) return;
    this.#findings.add(loss, clock.wallMs());
    this.#findingLog.write(loss, clock.monoMs());
  }

  #tell(findings: readonly Finding[]): void {
    for (const finding of findings) {
      const { clock, metrics } = this.#options;
      metrics.recordFinding(finding);
      this.#findings.add(finding, clock.wallMs());
      this.#timelines.noteFinding(finding, clock.wallMs());
      this.#findingLog.write(finding, clock.monoMs());
    }
  }

  async #joinAll(): Promise<void> {
    while (this.#joinWanted) {
      this.#joinWanted = false;
      await this.#joinKeys();
    }
  }

  async #joinKeys(): Promise<void> {
    const { metrics, store, sampledKeys } = this.#options;
    const withdrawals = this.#withdrawals;
    const standings = new Map<string, { resource: string; foreign: number; orphans: number }>();
    let joined = 0;
    for (const key of sampledKeys()) {
      this.#joinKey(key, standings);
      joined += 1;
      if (joined % KEYS_PER_TURN === 0) await nextTurn();
      if (withdrawals !== this.#withdrawals) return;
    }
    const rows: KeyStandings[] = [...standings.values()];
    metrics.publishStandings(store, rows);
  }

  #joinKey(
    key: SweptKey,
    standings: Map<string, { resource: string; foreign: number; orphans: number }>,
  ): void {
    const { clock } = this.#options;
    const { owner, leftMs, lastSeenUs: seenUs, expiresUs, resource } = key;
    const seen = { owner, leftMs, seenUs, expiresUs };
    const { standing, finding } = this.#ledger.judgeKey(seen, clock.monoMs());
    if (finding) this.#tell([finding]);
    let counts = standings.get(resource);
    if (!counts) {
      counts = { resource, foreign: 0, orphans: 0 };
      standings.set(resource, counts);
    }
    if (standing === 'foreign') counts.foreign += 1;
    else if (standing === 'orphan') counts.orphans += 1;
  }

  /** Any event, and any question, may have closed the window before the tick came. */
  #publishHotLocks(): void {
    const report = this.#hotKeys.report();
    if (report === this.#shownHot) return;
    this.#shownHot = report;
    this.#options.metrics.publishHotLocks(this.#options.store, this.#hotKeys.residents());
  }

  #countEvicted(): void {
    const now = { ...this.#ledger.size().evicted, timeline: this.#timelines.evicted };
    for (const table of ['holds', 'ended', 'producers', 'timeline'] as const) {
      const more = now[table] - this.#evicted[table];
      if (more > 0) this.#options.metrics.countEvicted(table, more);
      this.#evicted[table] = now[table];
    }
  }
}
