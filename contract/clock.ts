/** A pending call made by {@link Clock.setTimer}. */
export interface Timer {
  /** Forgets the call. Safe to repeat, and safe after the call was made. */
  cancel(): void;
}

/**
 * Time as a parameter. Whatever measures or waits takes a `Clock`, so that tests can move the wall clock and
 * the monotonic clock apart.
 */
export interface Clock {
  /** Wall time in milliseconds since the epoch. For timestamps only: it may jump in both directions. */
  wallMs(): number;
  /** Monotonic time in milliseconds from an arbitrary origin, with a fraction. For every duration and deadline. */
  monoMs(): number;
  /**
   * Calls `callback` once, no earlier than `delayMs` from now. A negative or NaN delay counts as 0; any finite
   * or infinite delay is allowed. A timer never keeps the process alive.
   */
  setTimer(callback: () => void, delayMs: number): Timer;
}

/** Source of chance: a number in [0, 1). */
export type Random = () => number;

/** The longest delay `setTimeout` takes: above it Node fires after 1 ms and warns. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** The clock of this machine. Each call makes a fresh one, without state shared between them. */
export function systemClock(): Clock {
  const monoMs = () => performance.now();
  return {
    wallMs: () => Date.now(),
    monoMs,
    setTimer: (callback, delayMs) => chainTimer(callback, delayMs, monoMs),
  };
}

/** Sleeps in steps that `setTimeout` can take, measured on the monotonic clock. */
function chainTimer(callback: () => void, delayMs: number, monoMs: () => number): Timer {
  const dueMs = monoMs() + Math.max(0, delayMs || 0);
  let pending: NodeJS.Timeout;
  const arm = () => {
    const leftMs = Math.max(0, dueMs - monoMs());
    const lastStep = leftMs <= LONGEST_TIMEOUT_MS;
    // Rounded up: setTimeout truncates, and a timer must never fire before its time.
    pending = setTimeout(lastStep ? callback : arm, lastStep ? Math.ceil(leftMs) : LONGEST_TIMEOUT_MS);
    pending.unref();
  };
  arm();
  return { cancel: () => clearTimeout(pending) };
}
