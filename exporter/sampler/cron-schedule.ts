import { createTask, type Logger, validateDetailed } from 'node-cron';
import type { Clock, Random, Timer } from '../../contract/clock.js';
import type { Schedule, StartSchedule } from './ports.js';

/** In UTC no hour is missing or comes twice. */
const TIME_ZONE = 'Etc/UTC';
/** Exporters with the same schedule must not all look in the same moment; more would surprise who set the time. */
const MAX_PHASE_MS = 5000;
/** A tick is overdue when it is later than this. */
const OVERDUE_MS = 5000;

/** node-cron prints by itself unless it is given a logger. What is missed shows in the age of the sample. */
const SILENT: Logger = { info() {}, warn() {}, error() {}, debug() {} };

/** What is wrong with a cron expression, in words that follow its name; undefined when nothing is. */
export function scheduleFault(expression: string): string | undefined {
  const { valid, errors } = validateDetailed(expression);
  if (valid) return undefined;
  const faults = errors.map(({ field, value }) => describeField(field, value, expression));
  return `is no cron expression, such as */15 * * * * *: ${[...new Set(faults)].join('; ')}`;
}

/** By node-cron's names of the fields. */
const FIELDS: Readonly<Record<string, string>> = {
  second: 'second (0 to 59)',
  minute: 'minute (0 to 59)',
  hour: 'hour (0 to 23)',
  dayOfMonth: 'day of the month (1 to 31)',
  month: 'month (1 to 12)',
  dayOfWeek: 'day of the week (0 to 7)',
};

function describeField(field: string, value: unknown, expression: string): string {
  const known = FIELDS[field];
  if (known !== undefined) return `${JSON.stringify(value)} is no ${known}`;
  const count = expression.split(/\s+/).filter((part) => part !== '').length;
  return `it has ${count} field${count === 1 ? '' : 's'}, not five, or six that begin with the second`;
}

/**
 * A schedule by a cron expression of five fields, or of six that begin with the second, in UTC. Ticks come late by
 * a phase that is drawn once. They come also while the one before is under way, so that whoever ticks can count it.
 */
export function cronSchedule(expression: string, clock: Clock, random: Random): StartSchedule {
  return (tick) => new CronSchedule(expression, clock, random, tick);
}

class CronSchedule implements Schedule {
  readonly #clock: Clock;
  readonly #phaseMs: number;
  readonly #tick: () => Promise<void>;
  readonly #task: ReturnType<typeof createTask>;
  #watch: Timer | undefined;
  #phase: { timer: Timer; done: () => void } | undefined;
  #stopped = false;

  constructor(expression: string, clock: Clock, random: Random, tick: () => Promise<void>) {
    this.#clock = clock;
    this.#tick = tick;
    this.#task = createTask(expression, () => this.#run(), {
      timezone: TIME_ZONE,
      noOverlap: false,
      suppressMissedWarning: true,
      logger: SILENT,
      unref: true,
    });
    const [first, second] = this.#task.getNextRuns(2);
    const gapMs = first && second ? second.getTime() - first.getTime() : 0;
    this.#phaseMs = random() * Math.min(gapMs / 2, MAX_PHASE_MS);
    void this.#task.start();
    this.#watchNext();
  }

  msToNext(): number | undefined {
    const ms = this.#task.msToNext();
    return ms === null ? undefined : Math.max(0, ms) + this.#phaseMs;
  }

  stop(): void {
    this.#stopped = true;
    this.#watch?.cancel();
    this.#phase?.timer.cancel();
    this.#phase?.done();
    void this.#task.destroy();
  }

  async #run(): Promise<void> {
    this.#watchNext();
    await new Promise<void>((done) => {
      this.#phase = { timer: this.#clock.setTimer(done, this.#phaseMs), done };
    });
    if (!this.#stopped) await this.#tick();
  }

  /**
   * node-cron sleeps by the wall clock: set back by an hour, it would sleep an hour more. The monotonic clock
   * watches that, and makes it look at the wall clock anew.
   */
  #watchNext(): void {
    this.#watch?.cancel();
    const dueMs = this.msToNext();
    if (dueMs === undefined || this.#stopped) return;
    this.#watch = this.#clock.setTimer(() => {
      void this.#task.stop();
      void this.#task.start();
      this.#watchNext();
    }, dueMs + OVERDUE_MS);
  }
}
