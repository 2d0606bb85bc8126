import type { Clock, Random, Timer } from '../../contract/clock.js';

/** More timers than this at one moment are a loop that never lets time pass. */
const MAX_AT_ONCE = 5000;

interface PendingTimer {
  dueMs: number;
  order: number;
  callback: () => void;
}

/**
 * A clock that stands still until a test moves it. Wall and monotonic time can be moved apart. Timers belong to
 * the monotonic time and fire in order of their due time, then of their making; they see the clock at exactly
 * their due time.
 */
export class FakeClock implements Clock {
  #wallMs: number;
  #monoMs: number;
  #order = 0;
  readonly #timers = new Set<PendingTimer>();

  /** Default: wall time 2024-01-01T00:00:00Z, monotonic time 10000 ms. */
  constructor(wallMs = Date.UTC(2024, 0, 1), monoMs = 10_000) {
    this.#wallMs = wallMs;
    this.#monoMs = monoMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  monoMs(): number {
    return this.#monoMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    this.#order += 1;
    const dueMs = this.#monoMs + Math.max(0, delayMs || 0);
    const timer = { dueMs, order: this.#order, callback };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  /** Timers that were neither fired nor cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Ms until the next timer is due, 0 when it is overdue, undefined without timers. */
  get nextTimerInMs(): number | undefined {
    const next = this.#next(Number.POSITIVE_INFINITY);
    return next && Math.max(0, next.dueMs - this.#monoMs);
  }

  /**
   * Moves both times on by `ms`, timer by timer: what a callback starts settles before the next timer fires,
   * and timers made on the way fire too when they fall due. Answers that come from another process are not
   * waited for.
   *
   * @throws Error when timers go on and on at one and the same moment.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#monoMs + ms;
    let atOnce = 0;
    await settle();
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      atOnce = next.dueMs > this.#monoMs ? 0 : atOnce + 1;
      if (atOnce > MAX_AT_ONCE)
        throw new Error(`${MAX_AT_ONCE} timers fired at ${this.#monoMs} ms: a hot loop`);
      this.#moveTo(Math.max(next.dueMs, this.#monoMs));
      this.#timers.delete(next);
      next.callback();
      await settle();
    }
    this.#moveTo(Math.max(endMs, this.#monoMs));
    await settle();
  }

  /** Sets the wall clock on or back; monotonic time and timers do not notice. */
  jumpWall(ms: number): void {
    this.#wallMs += ms;
  }

  /** Moves monotonic time alone, firing nothing: timers that fell due fire in the next turn of the event loop. */
  jumpMono(ms: number): void {
    this.#monoMs += ms;
    setImmediate(() => this.#fireOverdue());
  }

  /**
   * A pause of the process: both times move on at once, and no timer fires before the present turn is over. In
   * the next turn all overdue timers fire, late and in order. `await clock.settle()` waits for that.
   */
  stall(ms: number): void {
    this.#wallMs += ms;
    this.jumpMono(ms);
  }

  /** Lets promises and immediates settle without moving time. */
  settle(): Promise<void> {
    return settle();
  }

  #fireOverdue(): void {
    const nowMs = this.#monoMs;
    for (let next = this.#next(nowMs); next !== undefined; next = this.#next(nowMs)) {
      this.#timers.delete(next);
      next.callback();
    }
  }

  #moveTo(monoMs: number): void {
    this.#wallMs += monoMs - this.#monoMs;
    this.#monoMs = monoMs;
  }

  #next(untilMs: number): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      if (!first || timer.dueMs < first.dueMs || (timer.dueMs === first.dueMs && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  }
}

/** Two turns of the event loop, and with them every promise that needs no I/O. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
