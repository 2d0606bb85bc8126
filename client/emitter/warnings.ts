import type { Clock } from '../../contract/clock.js';

/** The same subject is spoken of at most this often. */
const REPEAT_MS = 600_000;
/** Subjects remembered; beyond, the oldest are forgotten only after their time, and new ones are not spoken of. */
const MAX_SUBJECTS = 50;

/** Warns of each subject at most once in ten minutes, of at most 50 subjects; never throws. */
export class Warnings {
  readonly #clock: Clock;
  readonly #tell: (message: string) => void;
  readonly #saidAtMs = new Map<string, number>();

  constructor(clock: Clock, tell: (message: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  say(subject: string, message: string): void {
    const nowMs = this.#clock.monoMs();
    for (const [said, atMs] of this.#saidAtMs) {
      if (nowMs - atMs < REPEAT_MS) break;
      this.#saidAtMs.delete(said);
    }
    if (this.#saidAtMs.has(subject) || this.#saidAtMs.size >= MAX_SUBJECTS) return;
    this.#saidAtMs.set(subject, nowMs);
    try {
      this.#tell(message);
    } catch {
      // Whoever listens to warnings must not be able to stop the telemetry.
    }
  }
}

/** Warns through Node, where `--no-warnings` silences it and `process.on('warning')` sees it. */
export function warnThroughNode(message: string): void {
  process.emitWarning(message, 'RedisLockWarning');
}
