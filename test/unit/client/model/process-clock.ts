import type { Clock, Timer } from '../../../../contract/clock.js';
import type { FakeClock } from '../../../support/clocks.js';

interface ProcessTimer {
  readonly dueMs: number;
  readonly callback: () => void;
  armed: Timer | undefined;
}

/**
 * The clocks of one process in the one time of the world, and whether the process makes progress.
 *
 * A stopped process (SIGSTOP, a long pause) runs nothing: no timer fires and nothing that comes for it is delivered,
 * but its monotonic clock goes on, as CLOCK_MONOTONIC does. In a suspended one (the machine sleeps) that stands
 * still too, so that nobody inside can know how long it was.
 */
export class ProcessClock implements Clock {
  readonly #world: FakeClock;
  readonly #timers = new Set<ProcessTimer>();
  #inbox: (() => void)[] = [];
  #wallShiftMs = 0;
  #monoShiftMs: number;
  #frozenMs: number | undefined;
  #isStopped = false;

  /** @param originMs by how much the monotonic clock differs from the world's */
  constructor(world: FakeClock, originMs: number) {
    this.#world = world;
    this.#monoShiftMs = originMs;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  wallMs(): number {
    return this.#world.wallMs() + this.#wallShiftMs;
  }

  monoMs(): number {
    return this.#frozenMs ?? this.#world.monoMs() + this.#monoShiftMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const timer: ProcessTimer = {
      dueMs: this.monoMs() + Math.max(0, delayMs || 0),
      callback,
      armed: undefined,
    };
    this.#timers.add(timer);
    this.#arm(timer);
    return { cancel: () => this.#forget(timer) };
  }

  /** What comes from outside: done now, or when the process goes on. */
  deliver(act: () => void): void {
    if (this.#isStopped) this.#inbox.push(act);
    else act();
  }

  jumpWall(ms: number): void {
    this.#wallShiftMs += ms;
  }

  /** The monotonic clock leaps ahead, as after a live migration. */
  leap(ms: number): void {
    this.#monoShiftMs += ms;
    for (const timer of this.#timers) this.#arm(timer);
  }

  stop(): void {
    this.#isStopped = true;
  }

  suspend(): void {
    this.stop();
    this.#frozenMs = this.monoMs();
  }

  /** Goes on: overdue timers and what waits for delivery are done one by one, in one order or the other. */
  async resume(timersFirst: boolean): Promise<void> {
    if (this.#frozenMs !== undefined) this.#monoShiftMs = this.#frozenMs - this.#world.monoMs();
    this.#frozenMs = undefined;
    this.#isStopped = false;
    if (timersFirst) await this.#runOverdue();
    for (const act of this.#inbox.splice(0)) {
      act();
      await this.#world.settle();
    }
    await this.#runOverdue();
    for (const timer of this.#timers) this.#arm(timer);
  }

  async #runOverdue(): Promise<void> {
    const overdue = [...this.#timers].filter((timer) => timer.dueMs <= this.monoMs());
    for (const timer of overdue.sort((a, b) => a.dueMs - b.dueMs)) {
      if (!this.#timers.has(timer)) continue;
      this.#forget(timer);
      timer.callback();
      await this.#world.settle();
    }
  }

  #arm(timer: ProcessTimer): void {
    timer.armed?.cancel();
    if (this.#isStopped) return;
    timer.armed = this.#world.setTimer(() => this.#fire(timer), timer.dueMs - this.monoMs());
  }

  #fire(timer: ProcessTimer): void {
    if (this.#isStopped || !this.#timers.has(timer)) return;
    this.#forget(timer);
    timer.callback();
  }

  #forget(timer: ProcessTimer): void {
    timer.armed?.cancel();
    this.#timers.delete(timer);
  }
}
