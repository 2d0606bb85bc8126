import type { Clock } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import type { LockKeys } from './key-pattern.js';
import type { KeyspacePart, KeyspaceView } from './keyspace-view.js';
import { type SampleStep, StepFailure, type StepReply } from './step.js';
import type { StepSize } from './step-size.js';

/** What bounds one sweep. */
export interface SweepLimits {
  /** It is cut after this long. */
  readonly deadlineMs: number;
  /** It is cut before it keeps more lock keys than this. */
  readonly maxKeys: number;
}

/** What a sweep works with. */
export interface SweepTools {
  readonly step: SampleStep;
  readonly view: KeyspaceView;
  readonly part: KeyspacePart;
  readonly size: StepSize;
  readonly lockKeys: LockKeys;
  readonly clock: Clock;
  readonly limits: SweepLimits;
  /** Asked between two steps: whether to give up. */
  readonly stopping: () => boolean;
}

/** What a sweep counted so far. */
export interface SweepCounts {
  /** Distinct lock keys. */
  readonly keys: number;
  /** Keys under a prefix that are no locks by their type. */
  readonly ignored: number;
  readonly vanished: number;
  readonly moved: number;
  readonly steps: number;
  /** What it cost the server, in µs. */
  readonly costUs: number;
}

/** How a sweep ended. `cut`: a limit was reached; the next one goes on at `cursor`. */
export type SweepOutcome =
  | { readonly kind: 'done'; readonly counts: SweepCounts; readonly serverUs: number }
  | { readonly kind: 'cut'; readonly counts: SweepCounts; readonly serverUs: number; readonly cursor: string }
  | { readonly kind: 'stopped'; readonly counts: SweepCounts }
  | { readonly kind: 'failed'; readonly counts: SweepCounts; readonly reason: RedisReason };

/** Of a sweep that was not begun. */
export const NO_COUNTS: SweepCounts = Object.freeze({
  keys: 0,
  ignored: 0,
  vanished: 0,
  moved: 0,
  steps: 0,
  costUs: 0,
});

/**
 * No library keeps the holder of a lock in one of these: they are queues, signal lists and sets of waiters that
 * are named like their lock.
 */
const HELPER_TYPES: ReadonlySet<string | null> = new Set(['list', 'set', 'stream']);

/**
 * Goes through a part of the keyspace from `cursor` on, step by step, into the view. Rejects only with a fault of
 * this program, never for a failure of Redis; no step is under way then.
 */
export async function runSweep(cursor: string, tools: SweepTools): Promise<SweepOutcome> {
  const sweep = new Sweep(tools);
  tools.view.begin(tools.part, cursor === '0');
  try {
    return await sweep.run(cursor);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return { kind: 'failed', counts: sweep.counts, reason: error.reason };
  }
}

class Sweep {
  readonly counts = { ...NO_COUNTS };
  readonly #tools: SweepTools;
  readonly #deadlineMs: number;

  constructor(tools: SweepTools) {
    this.#tools = tools;
    this.#deadlineMs = tools.clock.monoMs() + tools.limits.deadlineMs;
  }

  /** While Redis works on the next step, the keys of the last one are taken in. */
  async run(start: string): Promise<SweepOutcome> {
    let pending = this.#send(start);
    try {
      for (;;) {
        const reply = await pending;
        const monoMs = this.#tools.clock.monoMs();
        const serverUs = reply.serverUs ?? Math.round(this.#tools.clock.wallMs() * 1000);
        this.#count(reply);
        const end = this.#endAfter(reply, monoMs, serverUs);
        if (end === undefined) pending = this.#send(reply.cursor);
        this.#take(reply, { monoMs, serverUs });
        if (end !== undefined) return end;
      }
    } catch (error) {
      // What is under way ends within a command's time limit; its own failure tells nothing new.
      await pending.catch(() => {});
      throw error;
    }
  }

  #send(cursor: string): Promise<StepReply> {
    const { step, lockKeys, size } = this.#tools;
    return step({ cursor, lockKeys, count: size.count });
  }

  #count(reply: StepReply): void {
    this.#tools.size.learn(reply.costUs);
    this.counts.steps += 1;
    this.counts.costUs += reply.costUs;
    this.counts.vanished += reply.vanished;
    this.counts.moved += reply.moved;
  }

  /** Only cursor 0 is the end: a step may well return no keys before it. */
  #endAfter({ cursor, keys }: StepReply, monoMs: number, serverUs: number): SweepOutcome | undefined {
    const { counts } = this;
    const { limits, stopping } = this.#tools;
    if (cursor === '0') return { kind: 'done', counts, serverUs };
    if (stopping()) return { kind: 'stopped', counts };
    const full = counts.keys + keys.length >= limits.maxKeys;
    return full || monoMs >= this.#deadlineMs ? { kind: 'cut', counts, cursor, serverUs } : undefined;
  }

  #take({ keys }: StepReply, time: { monoMs: number; serverUs: number }): void {
    const { view, part } = this.#tools;
    keys.forEach((seen) => {
      if (HELPER_TYPES.has(seen.type)) this.counts.ignored += 1;
      else if (view.see(part, seen, time)) this.counts.keys += 1;
    });
  }
}
