import { judgeExclusion } from './exclusion.js';
import type { ModelHistory } from './model-history.js';
import { blindSpot, claimedOverlaps } from './overlaps.js';
import type { TrueHold, Truth } from './truth.js';

/** Durations of events are rounded to µs. */
const ROUNDING_MS = 0.002;

/** Which promise was broken. */
export type Rule =
  | 'exclusion'
  | 'final_event'
  | 'event_after_release'
  | 'lost_once'
  | 'loss_untold'
  | 'false_loss'
  | 'overlap_missed'
  | 'overlap_invented'
  | 'overlap_repeated'
  | 'orphan'
  | 'hang'
  | 'timers'
  | 'fence_order'
  | 'renew_creates'
  | 'renew_twice';

/** A broken promise, with enough to find it in the history. */
export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
}

/** Holds the end of a history against what a lock client promises. */
export function judge(history: ModelHistory): Violation[] {
  const { truth } = history;
  return [
    ...history.violations,
    ...truth.holds.flatMap((hold) => judgeEvents(history, hold)),
    ...truth.holds.flatMap((hold) => judgeLoss(history, hold)),
    ...judgeExclusion(history),
    ...judgeOverlaps(history),
    ...judgeFences(history),
  ];
}

function judgeEvents({ truth }: ModelHistory, hold: TrueHold): Violation[] {
  const found: Violation[] = [];
  const add = (rule: Rule, detail: string) => found.push({ rule, detail: `${detail}: ${story}` });
  const events = truth.eventsOf(hold.owner);
  const story = events.map(({ event, atMs }) => `${atMs} ${event.kind}`).join(', ');
  const kinds = events.map(({ event }) => event.kind);
  const count = (kind: string) => kinds.filter((one) => one === kind).length;
  const release = events.find(({ event }) => event.kind === 'release')?.event;
  const all = truth.events.filter(({ event }) => 'owner' in event && event.owner === hold.owner);
  const isFinal = (kind: string) => all.filter(({ event }) => event.kind === kind).length === 1;
  if (!isFinal('acquire') || !isFinal('release')) add('final_event', `hold ${hold.owner}`);
  if (release !== undefined && kinds.indexOf('release') !== kinds.length - 1)
    add('event_after_release', `hold ${hold.owner}`);
  if (count('lost') > 1) add('lost_once', `hold ${hold.owner}`);
  const saysLost = release?.kind === 'release' && release.lost;
  if (release !== undefined && saysLost !== count('lost') > 0)
    add('lost_once', 'lost event and release disagree');
  const lostByRelease = events.some(({ event }) => event.kind === 'lost' && event.by === 'release');
  if (lostByRelease && endedByItself(truth, hold)) add('false_loss', 'its own release had ended the lock');
  return found;
}

/** Without a renewal it is plain when the lease ends: the loss is told then, neither earlier nor later nor never. */
function judgeLoss({ truth, misled, stops }: ModelHistory, hold: TrueHold): Violation[] {
  const events = truth.eventsOf(hold.owner).map(({ event }) => event);
  if (hold.mayBeRenewed) return [];
  const lost = events.find((event) => event.kind === 'lost');
  const release = events.find((event) => event.kind === 'release');
  const detail = `hold ${hold.owner}, acquired at ${hold.acquiredAtMs}`;
  if (release?.kind === 'release' && release.holdMs >= release.leaseMs && !release.lost)
    return [{ rule: 'loss_untold', detail }];
  if (lost?.kind !== 'lost' || lost.by !== 'deadline') return [];
  const lateMs = lost.sinceGrantMs - lost.leaseMs;
  if (lateMs < -ROUNDING_MS) return [{ rule: 'false_loss', detail }];
  const wasDisturbed = misled.has(hold.process) || stops.some(({ process }) => process === hold.process);
  return lateMs > ROUNDING_MS && !wasDisturbed ? [{ rule: 'loss_untold', detail: `${detail}: late` }] : [];
}

function endedByItself(truth: Truth, { token }: TrueHold): boolean {
  const words = (truth.releases.get(token) ?? []).map(({ reply }) => reply.word);
  return words.includes('released');
}

/**
 * Every claim is true, and every overlap outside the blind spots is claimed. Not judged: the claims of a process whose
 * monotonic clock stood still or leapt, since a machine that slept between the end of the work and the answer takes
 * that end for later than it was.
 */
function judgeOverlaps({ truth, judgesOverlaps, misled }: ModelHistory): Violation[] {
  const claims = claimedOverlaps(truth);
  if (!judgesOverlaps) return [];
  return truth.holds.flatMap((hold): Violation[] => {
    const claimed = claims.filter((owner) => owner === hold.owner).length;
    const happened = truth.intruders(hold).length > 0;
    const detail = `hold ${hold.owner} of process ${hold.process}, acquired at ${hold.acquiredAtMs}, settled at ${hold.settled?.atMs}`;
    if (claimed > 1) return [{ rule: 'overlap_repeated', detail }];
    if (claimed === 1 && !happened && !misled.has(hold.process) && !grantedAgain(truth, hold))
      return [{ rule: 'overlap_invented', detail }];
    if (claimed === 0 && happened && blindSpot(truth, hold) === undefined)
      return [{ rule: 'overlap_missed', detail }];
    return [];
  });
}

/** A stray acquire was carried out after its hold had ended on the server: the later fence is its own. */
function grantedAgain(truth: Truth, hold: TrueHold): boolean {
  const first = truth.grantOf(hold)?.order ?? 0;
  return truth.grantsOf(hold.token).some(({ order, isStray }) => isStray && order > first);
}

/** On one server the fences of a lock rise, and each lease has that of its own grant. */
function judgeFences({ truth }: ModelHistory): Violation[] {
  const latest = new Map<string, number>();
  const found: Violation[] = [];
  for (const { server, key, fence } of truth.grants) {
    if (fence === null || truth.flushed.has(server)) continue;
    const name = `${server.runId} ${key}`;
    if (fence <= (latest.get(name) ?? 0)) found.push({ rule: 'fence_order', detail: `${name}: ${fence}` });
    latest.set(name, fence);
  }
  for (const hold of truth.holds) {
    if (truth.grantOf(hold) === undefined)
      found.push({ rule: 'fence_order', detail: `the fence of ${hold.owner} was never granted` });
  }
  return found;
}
