import type { Clock } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import type { Deployment, SampledNode } from './deployment.js';
import type { LockKeys } from './key-pattern.js';
import type { KeyspaceView, PartEnd } from './keyspace-view.js';
import { NodeSweeper } from './node-sweeper.js';
import type { ObservedChanges } from './observed-changes.js';
import type { LookOutcome, SampleSource } from './sample-source.js';
import type { Sighting } from './sighting.js';
import { readFailure } from './step.js';
import { NO_COUNTS, type SweepCounts, type SweepLimits, type SweepOutcome } from './sweep.js';

/** What the sweeps work with. */
export interface KeyspaceOptions {
  readonly deployment: Pick<Deployment, 'nodes'>;
  readonly view: KeyspaceView;
  readonly lockKeys: LockKeys;
  /** Largest share of a server's time: above 0, at most 1. */
  readonly dutyShare: number;
  /** Of one look; the keys are divided among the nodes. */
  readonly limits: SweepLimits;
  readonly clock: Clock;
  /** Whether to give up between two steps. */
  readonly stopping: () => boolean;
}

/** Sweeps the whole keyspace: all nodes at a time, each by its own pace. */
export class KeyspaceSource implements SampleSource {
  readonly #options: KeyspaceOptions;
  readonly #sweepers = new Map<string, NodeSweeper>();

  constructor(options: KeyspaceOptions) {
    this.#options = options;
  }

  waitMs(): number {
    const nowMs = this.#options.clock.monoMs();
    return Math.max(0, ...[...this.#sweepers.values()].map(({ duty }) => duty.waitMs(nowMs)));
  }

  async look(): Promise<LookOutcome> {
    const set = await this.#options.deployment.nodes().catch(readFailure);
    if (!('sweep' in set)) return { kind: 'failed', reason: set.reason };
    const sweepers = this.#placeSweepers(set.sweep);
    const outcomes = await this.#sweepAll(set.sweep, sweepers);
    const resumed = sweepers.some((sweeper) => sweeper.resumed);
    const missing = outcomes.every(({ kind }) => kind === 'failed') ? undefined : await set.missing();
    return this.#judge(missing, outcomes, resumed);
  }

  forget(): void {
    for (const sweeper of this.#sweepers.values()) sweeper.part.end = LEFT;
    this.#sweepers.clear();
  }

  sightings(): Iterable<Sighting> {
    return this.#options.view.values();
  }

  takeChanges(): readonly ObservedChanges[] {
    return this.#options.view.takeChanges();
  }

  /** A node that left, or came, had keys handed over, which then went away from where they were. */
  #placeSweepers(nodes: readonly SampledNode[]): NodeSweeper[] {
    const names = new Set(nodes.map(({ name }) => name));
    for (const [name, sweeper] of this.#sweepers) {
      if (names.has(name)) continue;
      sweeper.part.end = LEFT;
      this.#sweepers.delete(name);
    }
    return nodes.map(({ name }) => {
      const sweeper = this.#sweepers.get(name) ?? new NodeSweeper(this.#options);
      this.#sweepers.set(name, sweeper);
      return sweeper;
    });
  }

  async #sweepAll(
    nodes: readonly SampledNode[],
    sweepers: readonly NodeSweeper[],
  ): Promise<readonly SweepOutcome[]> {
    const { limits } = this.#options;
    const maxKeys = Math.ceil(limits.maxKeys / Math.max(1, nodes.length));
    const sweeps = nodes.map((node, at) => sweepers[at]?.sweep(node, { ...limits, maxKeys }));
    const settled = await Promise.allSettled(sweeps);
    return settled.flatMap((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value ?? [];
    });
  }

  #judge(
    missing: 'cluster_down' | 'moved' | undefined,
    outcomes: readonly SweepOutcome[],
    resumed: boolean,
  ): LookOutcome {
    if (outcomes.some(({ kind }) => kind === 'stopped')) return { kind: 'stopped' };
    const { view, clock, limits } = this.#options;
    const failures = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome.reason] : []));
    const counts = addCounts(outcomes.map((outcome) => outcome.counts));
    const faults: RedisReason[] = [...failures];
    if (counts.moved > 0 && missing !== 'moved') faults.push('moved');
    if (missing !== undefined) faults.push(missing);
    if (faults.length > 0) for (const sweeper of this.#sweepers.values()) sweeper.doubt();
    view.endSweeps(clock.monoMs(), limits.maxKeys);
    const [first] = failures;
    if (failures.length === outcomes.length) return { kind: 'failed', reason: first ?? 'cluster_down' };
    const cut = outcomes.some(({ kind }) => kind === 'cut');
    return { kind: 'good', counts, truncated: cut || resumed || faults.length > 0, faults };
  }
}

const LEFT: PartEnd = Object.freeze({ kind: 'left', serverUs: 0, explained: false });

function addCounts(all: readonly SweepCounts[]): SweepCounts {
  return all.reduce(
    (sum, one) => ({
      keys: sum.keys + one.keys,
      ignored: sum.ignored + one.ignored,
      vanished: sum.vanished + one.vanished,
      moved: sum.moved + one.moved,
      steps: sum.steps + one.steps,
      costUs: sum.costUs + one.costUs,
    }),
    NO_COUNTS,
  );
}
