import type { Clock, Random, Timer } from '../../contract/clock.js';
import type { Schedule, StartSchedule } from './ports.js';

/** Held keys are looked at this often: well within the leases that people give to locks that matter. */
export const HELD_INTERVAL_MS = 5000;

/** Ticks at an even interval of the monotonic clock, the first after a part of it that is drawn once. */
export function intervalSchedule(intervalMs: number, clock: Clock, random: Random): StartSchedule {
  return (tick) => {
    let dueMs = clock.monoMs() + random() * intervalMs;
    let timer: Timer;
    const arm = () => {
      timer = clock.setTimer(run, dueMs - clock.monoMs());
    };
    const run = () => {
      // A process that stood still goes on from now instead of making up for what it missed.
      dueMs = Math.max(dueMs, clock.monoMs() - intervalMs) + intervalMs;
      arm();
      void tick();
    };
    arm();
    const schedule: Schedule = {
      msToNext: () => Math.max(0, dueMs - clock.monoMs()),
      stop: () => timer.cancel(),
    };
    return schedule;
  };
}
