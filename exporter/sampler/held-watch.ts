import type { RedisReason } from '../../contract/outcomes.js';
import { DutyBudget } from './duty-budget.js';
import { HeldLooker } from './held-look.js';
import { type HeldSourceOptions, reportLook } from './held-source.js';
import type { SamplePort, Schedule, StartSchedule } from './ports.js';

/** What the watch works with. */
export interface HeldWatchOptions extends HeldSourceOptions {
  readonly schedule: StartSchedule;
  readonly port: Pick<SamplePort, 'sampleError' | 'sampleSkipped'>;
  /** Hears of a fault of this program. */
  readonly reportFault: (error: unknown) => void;
}

/**
 * Beside the sweeps: looks again and again at the keys that clients hold, and takes what it sees into the sweeps'
 * view. A look that fails withdraws nothing; that is for the sweeps to say.
 */
export class HeldWatch {
  readonly #options: HeldWatchOptions;
  readonly #looker: HeldLooker;
  readonly #duty: DutyBudget;
  #schedule: Schedule | undefined;
  #running: Promise<void> | undefined;

  constructor(options: HeldWatchOptions) {
    this.#options = options;
    this.#looker = new HeldLooker(options);
    this.#duty = new DutyBudget(options.dutyShare);
  }

  start(): void {
    this.#schedule = this.#options.schedule(() => this.tick());
  }

  /** Waits for a look that is under way. */
  async stop(): Promise<void> {
    this.#schedule?.stop();
    await this.#running;
  }

  /** One look, unless one is under way or the share of the server's time is spent. Never rejects. */
  tick(): Promise<void> {
    const { port, store, clock, heldKeys } = this.#options;
    if (heldKeys.size().keys === 0) return Promise.resolve();
    const wait = this.#duty.waitMs(clock.monoMs()) > 0;
    if (wait || this.#running !== undefined) port.sampleSkipped(store, wait ? 'duty' : 'busy');
    if (wait) return Promise.resolve();
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #look(): Promise<void> {
    const { port, clock, view, heldKeys, store, reportFault } = this.#options;
    try {
      const startMs = clock.monoMs();
      const result = await this.#looker.look();
      this.#duty.spend(startMs, result.costUs);
      const monoMs = clock.monoMs();
      for (const { row, state, seen, moment } of result.sights) {
        const { serverUs } = moment;
        if (state === 'gone') view.recheckGone(heldKeys.keyAt(row), serverUs);
        if (state !== 'there') continue;
        view.recheck(heldKeys.keyAt(row), heldKeys.resourceAt(row), seen, { monoMs, serverUs });
      }
      for (const reason of new Set<RedisReason>(result.faults)) port.sampleError(store, reason);
      if (!result.failed) this.#options.heldLooked(reportLook(this.#options, result));
    } catch (error) {
      reportFault(error);
    }
  }
}
