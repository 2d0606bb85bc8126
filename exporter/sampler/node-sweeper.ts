import type { Clock } from '../../contract/clock.js';
import { type DataSet, isOtherData } from './data-set.js';
import type { SampledNode } from './deployment.js';
import { DutyBudget } from './duty-budget.js';
import type { LockKeys } from './key-pattern.js';
import { KeyspacePart, type KeyspaceView } from './keyspace-view.js';
import { readFailure } from './step.js';
import { StepSize } from './step-size.js';
import { NO_COUNTS, runSweep, type SweepLimits, type SweepOutcome } from './sweep.js';

/** What all sweepers of a sampler share. */
export interface SweeperTools {
  readonly view: KeyspaceView;
  readonly lockKeys: LockKeys;
  readonly dutyShare: number;
  readonly clock: Clock;
  readonly stopping: () => boolean;
}

/** A connection in the making is waited for this long; then the look fails. */
export const READY_MS = 1000;

/** Sweeps one node again and again, and knows where it was cut. */
export class NodeSweeper {
  readonly part = new KeyspacePart();
  readonly duty: DutyBudget;
  readonly #tools: SweeperTools;
  readonly #size = new StepSize();
  #cursor = '0';
  #resumed = false;
  #connections = -1;
  /** What the data were at the last look at them, and the connection it was over. */
  #data: (DataSet & { readonly connection: number }) | undefined;
  /** Since the round before the present one began, the same run of the server answered all that it was asked. */
  #steady = false;

  constructor(tools: SweeperTools) {
    this.#tools = tools;
    this.duty = new DutyBudget(tools.dutyShare);
  }

  /** Whether the last sweep went on where one was cut. */
  get resumed(): boolean {
    return this.#resumed;
  }

  /** One sweep. Rejects only with a fault of this program. */
  async sweep(node: SampledNode, limits: SweepLimits): Promise<SweepOutcome> {
    const { clock } = this.#tools;
    await node.redis.untilReady(READY_MS);
    const startMs = clock.monoMs();
    const before = node.redis.connections();
    this.#steady &&= before === this.#connections;
    const outcome = await this.#look(node, limits);
    this.#connections = node.redis.connections();
    this.#steady &&= before === this.#connections;
    this.duty.spend(startMs, outcome.counts.costUs);
    return outcome.kind === 'failed' ? this.#failed(node, outcome) : this.#ended(outcome);
  }

  /** What went away while a part was not looked at, or had a part of its keys handed on, has no explanation. */
  doubt(): void {
    this.part.end = { ...this.part.end, explained: false };
  }

  /** A connection that is known to be faulty is not asked: its answers would be another database's. */
  async #look(node: SampledNode, limits: SweepLimits): Promise<SweepOutcome> {
    const { view, lockKeys, clock, stopping } = this.#tools;
    const known = node.redis.fault();
    const reason = known ?? (await this.#compareData(node).catch(readFailure))?.reason;
    if (reason !== undefined) return { kind: 'failed', counts: NO_COUNTS, reason };
    const { part } = this;
    const tools = { step: node.step, view, part, size: this.#size, lockKeys, clock, limits, stopping };
    this.#resumed = this.#cursor !== '0';
    return runSweep(this.#cursor, tools);
  }

  /** Other data than before: what is known of the part is no longer true, and its cursor means nothing there. */
  async #compareData(node: SampledNode): Promise<undefined> {
    const connection = node.redis.connections();
    const now = { ...(await node.readDataSet()), connection };
    const before = this.#data;
    this.#data = now;
    const { view } = this.#tools;
    if (before === undefined || !isOtherData(before, now, () => view.countOf(this.part))) return;
    view.renew(this.part);
    this.#cursor = '0';
    this.#steady = false;
  }

  #failed(node: SampledNode, outcome: SweepOutcome & { kind: 'failed' }): SweepOutcome {
    const known = node.redis.fault();
    // A connection that keeps silent, or that is not what it should be, does not mend by waiting.
    if (outcome.reason === 'command_timeout' || known !== undefined) node.redis.reconnect();
    this.#cursor = '0';
    this.#steady = false;
    this.part.end = { kind: 'failed', serverUs: 0, explained: false };
    return { ...outcome, reason: node.redis.explain(outcome.reason) };
  }

  #ended(outcome: Exclude<SweepOutcome, { kind: 'failed' }>): SweepOutcome {
    if (outcome.kind === 'stopped') return outcome;
    const done = outcome.kind === 'done';
    this.part.end = { kind: outcome.kind, serverUs: outcome.serverUs, explained: done && this.#steady };
    this.#cursor = done ? '0' : outcome.cursor;
    if (done) this.#steady = true;
    return outcome;
  }
}
