import type { LockEvent } from '../../contract/event.js';
import { highWord, lowWord } from './digest-words.js';
import { SpaceSaving } from './space-saving.js';

/** One hot lock, over the last full window. */
export interface HotLock {
  /** Lock id. */
  readonly lock: string;
  readonly resource: string;
  /** Commands sent to get it; at most `attemptsError` above the true number. */
  readonly attempts: number;
  readonly attemptsError: number;
  /** Share of the attempts that met a holder. */
  readonly contendedRatio: number;
  /**
   * Share of the window in which it was held, at most 1; running holds are counted up to the window's end, but no
   * further than their lease, and not beyond a loss: work that goes on without the lock keeps nobody out.
   */
  readonly busyRatio: number;
  /** Share of the window in which it was free. */
  readonly headroomRatio: number;
  /** Mean work of the holds that ended in the window; `null` when none did. */
  readonly meanHoldMs: number | null;
}

/** The hot locks of a window. */
export interface HotReport {
  readonly windowMs: number;
  /** Monotonic time of its end; undefined before the first window is over. */
  readonly endedMonoMs: number | undefined;
  /** Attempts on all locks. */
  readonly attempts: number;
  /** No count is more than this above the true one, and every lock with more attempts is among those counted. */
  readonly errorBound: number;
  readonly locks: readonly HotLock[];
}

/** How hot locks are looked for. */
export interface HotKeysOptions {
  /** Length of a window. */
  readonly windowMs: number;
  /** Locks counted at a time; the error is at most the attempts of a window divided by it. */
  readonly capacity: number;
  /** Locks that get series of their own. */
  readonly shown: number;
  /** A lock that got series keeps them for so many windows after it was last among the hottest. */
  readonly residenceWindows: number;
}

export const DEFAULT_HOT_KEYS: HotKeysOptions = {
  windowMs: 60_000,
  capacity: 1024,
  shown: 10,
  residenceWindows: 5,
};

interface LockCounts {
  resource: string;
  attempts: number;
  contended: number;
  holds: number;
  workMs: number;
  heldMs: number;
  /** When the hold that is on began; undefined: none is. By its owner, so that only its own release ends it. */
  heldSinceMs: number | undefined;
  /** When its lease is over at the latest, counted from the receipt. Beyond it nobody holds the lock, dead or alive. */
  heldUntilMs: number;
  /** The words of the holder's digest: its text would outlive the batch that brought it. Without a hold they say nothing. */
  holderHigh: number;
  holderLow: number;
}

const NO_COUNTS: LockCounts = Object.freeze({
  resource: '',
  attempts: 0,
  contended: 0,
  holds: 0,
  workMs: 0,
  heldMs: 0,
  heldSinceMs: undefined,
  heldUntilMs: 0,
  holderHigh: 0,
  holderLow: 0,
});

/** One by one: `Object.assign` takes ten times as long. */
function empty(counts: LockCounts): void {
  counts.resource = '';
  counts.attempts = 0;
  counts.contended = 0;
  counts.holds = 0;
  counts.workMs = 0;
  counts.heldMs = 0;
  counts.heldSinceMs = undefined;
  counts.heldUntilMs = 0;
  counts.holderHigh = 0;
  counts.holderLow = 0;
}

/** A lock that has series. */
interface Resident {
  hottestIn: number;
}

/**
 * Finds the locks that most attempts go to, in fixed windows and bounded memory, and says how busy each was. Times are those
 * of receipt, by this process's clock: a batch that comes late moves what it tells by its delay.
 */
export class HotKeys {
  readonly #options: HotKeysOptions;
  readonly #residents = new Map<string, Resident>();
  #counts: SpaceSaving<LockCounts>;
  #startMs: number;
  #windows = 0;
  #report: HotReport;

  constructor(nowMonoMs: number, options: HotKeysOptions = DEFAULT_HOT_KEYS) {
    this.#options = options;
    this.#startMs = nowMonoMs;
    this.#counts = this.#newCounts();
    this.#report = {
      windowMs: options.windowMs,
      endedMonoMs: undefined,
      attempts: 0,
      errorBound: 0,
      locks: [],
    };
  }

  /** Takes an accepted event. */
  applyEvent(event: LockEvent, nowMonoMs: number): void {
    if (nowMonoMs - this.#startMs >= this.#options.windowMs) this.tick(nowMonoMs);
    if (event.kind === 'acquire') this.#tried(event, nowMonoMs);
    else if (event.kind === 'release') this.#released(event.lock, event.owner, event.holdMs, nowMonoMs);
    else if (event.kind === 'renew') this.#renewed(event, nowMonoMs);
    else if (event.kind === 'lost') this.#lost(event.lock, event.owner, nowMonoMs);
  }

  /** Closes the window when it is over. Call it now and then. Returns whether it did. */
  tick(nowMonoMs: number): boolean {
    const { windowMs } = this.#options;
    if (nowMonoMs - this.#startMs < windowMs) return false;
    const ended = this.#counts;
    const endMs = this.#startMs + windowMs;
    this.#windows += 1;
    this.#report = this.#describe(ended, endMs);
    this.#settleResidents();
    this.#counts = this.#newCounts();
    // After a silence of several windows the present one begins where it would have.
    this.#startMs = endMs + Math.floor((nowMonoMs - endMs) / windowMs) * windowMs;
    this.#carryOver(ended);
    return true;
  }

  /** Monotonic time at which the present window ends. */
  get endsMonoMs(): number {
    return this.#startMs + this.#options.windowMs;
  }

  /** The locks of the last full window, the hottest first. */
  report(): HotReport {
    return this.#report;
  }

  /** Those of the report that have series: the hottest, and those that were so lately. */
  residents(): readonly HotLock[] {
    return this.#report.locks.filter(({ lock }) => this.#residents.has(lock));
  }

  #newCounts(): SpaceSaving<LockCounts> {
    return new SpaceSaving(this.#options.capacity, () => ({ ...NO_COUNTS }), empty);
  }

  #tried(event: LockEvent & { kind: 'acquire' }, nowMs: number): void {
    if (event.attempts === 0) return;
    const { value } = this.#counts.add(event.lock, event.attempts);
    // Another text of the same name is not kept either.
    if (value.resource !== event.resource) value.resource = event.resource;
    value.attempts += event.attempts;
    const acquired = event.outcome === 'acquired';
    if (acquired) value.contended += event.attempts - 1;
    else if (event.outcome === 'contended' || event.outcome === 'timeout') value.contended += event.attempts;
    if (!acquired) return;
    this.#stop(value, nowMs);
    value.heldSinceMs = nowMs;
    value.heldUntilMs = nowMs + event.leaseMs;
    value.holderHigh = highWord(event.owner);
    value.holderLow = lowWord(event.owner);
  }

  #renewed(event: LockEvent & { kind: 'renew' }, nowMs: number): void {
    const value = this.#counts.get(event.lock)?.value;
    if (value && event.outcome === 'renewed' && isHeldBy(value, event.owner))
      value.heldUntilMs = nowMs + event.leaseMs;
  }

  #lost(lock: string, owner: string, nowMs: number): void {
    const value = this.#counts.get(lock)?.value;
    if (value && isHeldBy(value, owner)) this.#stop(value, nowMs);
  }

  #released(lock: string, owner: string, holdMs: number, nowMs: number): void {
    const value = this.#counts.get(lock)?.value;
    if (!value) return;
    value.holds += 1;
    value.workMs += holdMs;
    if (!isHeldBy(value, owner)) return;
    // Both reports may have come in one batch: then only the client knows how long it was.
    value.heldSinceMs = Math.min(value.heldSinceMs ?? nowMs, nowMs - holdMs);
    this.#stop(value, nowMs);
  }

  /** The hold that is on, if there is one, has ended. */
  #stop(value: LockCounts, nowMs: number): void {
    value.heldMs += this.#runningMs(value, nowMs);
    value.heldSinceMs = undefined;
  }

  /** For how long the hold that is on has been on in this window. */
  #runningMs({ heldSinceMs, heldUntilMs }: LockCounts, nowMs: number): number {
    if (heldSinceMs === undefined) return 0;
    return Math.max(0, Math.min(nowMs, heldUntilMs) - Math.max(this.#startMs, heldSinceMs));
  }

  #describe(counts: SpaceSaving<LockCounts>, endMs: number): HotReport {
    const { windowMs, capacity } = this.#options;
    const locks = counts.top(capacity).map(({ key, count, error, value }): HotLock => {
      const busyRatio = Math.min(1, (value.heldMs + this.#runningMs(value, endMs)) / windowMs);
      return {
        lock: key,
        resource: value.resource,
        attempts: count,
        attemptsError: error,
        contendedRatio: value.attempts === 0 ? 0 : value.contended / value.attempts,
        busyRatio,
        headroomRatio: 1 - busyRatio,
        meanHoldMs: value.holds === 0 ? null : value.workMs / value.holds,
      };
    });
    const { total, errorBound } = counts;
    return { windowMs, endedMonoMs: endMs, attempts: total, errorBound, locks };
  }

  /** A place goes to a hotter lock only once its lock has not been among the hottest for a while: series must not flicker. */
  #settleResidents(): void {
    const { shown, residenceWindows } = this.#options;
    const hottest = this.#report.locks
      .slice(0, shown)
      .filter(({ attempts, attemptsError }) => attempts > attemptsError);
    for (const { lock } of hottest) {
      const resident = this.#residents.get(lock);
      if (resident) resident.hottestIn = this.#windows;
    }
    for (const [lock, { hottestIn }] of this.#residents) {
      if (this.#windows - hottestIn >= residenceWindows) this.#residents.delete(lock);
    }
    for (const { lock } of hottest) {
      if (this.#residents.size >= shown) return;
      if (!this.#residents.has(lock)) this.#residents.set(lock, { hottestIn: this.#windows });
    }
  }

  /** A hold that is on goes on in the next window, and a lock that is held is worth counting though nobody tries. */
  #carryOver(ended: SpaceSaving<LockCounts>): void {
    for (const { key, value } of ended.top(this.#options.shown)) {
      if (value.heldSinceMs === undefined || value.heldUntilMs <= this.#startMs) continue;
      const next = this.#counts.add(key, Number.MIN_VALUE).value;
      next.resource = value.resource;
      next.heldSinceMs = value.heldSinceMs;
      next.heldUntilMs = value.heldUntilMs;
      next.holderHigh = value.holderHigh;
      next.holderLow = value.holderLow;
    }
  }
}

function isHeldBy({ heldSinceMs, holderHigh, holderLow }: LockCounts, owner: string): boolean {
  return heldSinceMs !== undefined && holderLow === lowWord(owner) && holderHigh === highWord(owner);
}
