import type { Violation } from './invariants.js';
import type { ModelHistory } from './model-history.js';
import type { TrueHold } from './truth.js';

/**
 * Two leases of one lock that were valid at one time, by what the clients told: a lease is valid from its `acquired`
 * until its `lost` or its release. Needs nobody to look, so that timers alone are put to the test; a process that
 * stands still cannot act, and is judged when it goes on.
 */
export function judgeExclusion(history: ModelHistory): Violation[] {
  const { truth } = history;
  return truth.holds.flatMap((later) => {
    const earlier = truth.holds.filter(
      (hold) => hold !== later && hold.key === later.key && hold.acquiredAtMs <= later.acquiredAtMs,
    );
    return earlier.filter((hold) => bothValid(history, hold, later)).map((hold) => describe(hold, later));
  });
}

function bothValid(history: ModelHistory, earlier: TrueHold, later: TrueHold): boolean {
  const atMs = runsFrom(history, earlier.process, later.acquiredAtMs);
  const faultMs = history.truth.firstFault?.atMs ?? Number.POSITIVE_INFINITY;
  return atMs < Math.min(faultMs, endOf(history, earlier), endOf(history, later));
}

/** The first moment from `atMs` on at which a process makes progress. */
function runsFrom({ stops }: ModelHistory, process: number, atMs: number): number {
  const stop = stops.find((one) => one.process === process && one.fromMs <= atMs && atMs < one.untilMs);
  return stop?.untilMs ?? atMs;
}

function endOf({ truth }: ModelHistory, hold: TrueHold): number {
  const lost = truth.eventsOf(hold.owner).find(({ event }) => event.kind === 'lost');
  return Math.min(lost?.atMs ?? Number.POSITIVE_INFINITY, hold.settled?.atMs ?? Number.POSITIVE_INFINITY);
}

function describe(earlier: TrueHold, later: TrueHold): Violation {
  return { rule: 'exclusion', detail: `${earlier.owner} and ${later.owner} from ${later.acquiredAtMs}` };
}
