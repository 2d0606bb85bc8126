import { createTask, type Logger, validateDetailed } from 'node-cron';
import type { Clock, Random, Timer } from '../../contract/clock.js';
import type { Schedule, StartSchedule } from './ports.js';

/** In UTC no hour is missing or comes twice. */
const TIME_ZONE = 'Etc/UTC';
/** Exporters with the same schedule must not all look in the same moment; more would surprise who set the time. */
const MAX_PHASE_MS = 5000;
/** A clock that was set is noticed after this. */
const MAX_NAP_MS = 10_000;

/** node-cron prints by itself unless it is given a logger. */
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

/**
 * node-cron only says when the next run is; it never runs the task. Its own timers floor a time by
 * `Date.setMilliseconds`, which in the hour that comes twice gives the time of an hour before: where TZ has such an
 * hour, it would spin through all of it without one run, whatever zone the expression is for.
 */
class CronSchedule implements Schedule {
  readonly #clock: Clock;
  readonly #phaseMs: number;
  readonly #tick: () => Promise<void>;
  readonly #task: ReturnType<typeof createTask>;
  #sleep: Timer | undefined;
  #phase: Timer | undefined;
  /** Wall time of the next run. */
  #dueAtMs: number | undefined;

  constructor(expression: string, clock: Clock, random: Random, tick: () => Promise<void>) {
    this.#clock = clock;
    this.#tick = tick;
    this.#task = createTask(expression, () => {}, { timezone: TIME_ZONE, logger: SILENT });
    const [first, second] = this.#task.getNextRuns(2);
    const gapMs = first && second ? second.getTime() - first.getTime() : 0;
    this.#phaseMs = random() * Math.min(gapMs / 2, MAX_PHASE_MS);
    this.#sleepOn();
  }

  msToNext(): number | undefined {
    const dueAtMs = this.#nextRunMs();
    return dueAtMs === undefined ? undefined : Math.max(0, dueAtMs - this.#clock.wallMs()) + this.#phaseMs;
  }

  stop(): void {
    this.#sleep?.cancel();
    this.#phase?.cancel();
    void this.#task.destroy();
  }

  #nextRunMs(): number | undefined {
    return this.#task.getNextRuns(1)[0]?.getTime();
  }

  /** In short naps, so that a clock that was set is noticed: set back by an hour, it would sleep an hour more. */
  #sleepOn(): void {
    this.#dueAtMs = this.#nextRunMs();
    if (this.#dueAtMs === undefined) return;
    const leftMs = this.#dueAtMs - this.#clock.wallMs();
    this.#sleep = this.#clock.setTimer(() => this.#wake(), Math.min(leftMs, MAX_NAP_MS));
  }

  #wake(): void {
    const isDue = this.#dueAtMs !== undefined && this.#clock.wallMs() >= this.#dueAtMs;
    if (isDue) this.#phase = this.#clock.setTimer(() => void this.#tick(), this.#phaseMs);
    this.#sleepOn();
  }
}
