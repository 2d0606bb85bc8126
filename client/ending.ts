import { wasGrantedBeforeEnd } from '../contract/later-grant.js';
import type { NotOwned, ReleaseReply } from '../lua/replies.js';
import { failedResult, notOwned } from './answers.js';
import type { Answer } from './command.js';
import { isTransient, LOST_ANSWER, WRONG_TYPE } from './redis-errors.js';
import type { ReleaseResult } from './results.js';

/** What is known of a hold when its release is answered. */
export interface SettledHold {
  readonly fence: number | undefined;
  /** Local end of the lease, monotonic. */
  readonly leaseEndMs: number;
  /** Redis's clock when the work settled, as a lower bound. */
  readonly settledUs: number | undefined;
  /** The loss was told already. */
  readonly wasLost: boolean;
}

/** What the answer to a release says. */
export interface Ending {
  readonly result: ReleaseResult;
  /** The lock was surely gone before the work settled, and nobody knew. */
  readonly foundLost: boolean;
  /** The not-owned answer, where there was one. */
  readonly gone: NotOwned | undefined;
  /** The lock may still be there, and another try may delete it. */
  readonly needsCleanUp: boolean;
}

/** Judges the answer to a release. */
export function judgeEnding(answer: Answer<ReleaseReply>, hold: SettledHold): Ending {
  if (!answer.ok) {
    const needsCleanUp = isTransient(answer.failure.reason);
    return { result: failedResult(answer.failure), foundLost: false, gone: undefined, needsCleanUp };
  }
  const { reply } = answer;
  switch (reply.word) {
    case 'released':
      return { result: { outcome: 'released' }, foundLost: false, gone: undefined, needsCleanUp: false };
    case 'wrong_type':
      return judgeWrongType(answer.mayBeResent, hold.wasLost);
    case 'expired':
    case 'stolen':
      return judgeNotOwned(answer, reply, hold);
    default:
      return reply satisfies never;
  }
}

/** The key was replaced during the work; or after a first send of this release had deleted it, which proves no loss. */
function judgeWrongType(mayBeResent: boolean, wasLost: boolean): Ending {
  const isDoubtful = mayBeResent && !wasLost;
  const result = failedResult(isDoubtful ? LOST_ANSWER : WRONG_TYPE);
  return { result, foundLost: !wasLost && !isDoubtful, gone: undefined, needsCleanUp: false };
}

/**
 * "Not owned" proves a loss when it came while the lease still ran, or when another was granted before the work
 * settled. It proves none when it took until the lease was over; and none when the connection broke on the way, for
 * then the first send may have deleted the lock, and this is the answer to the second.
 */
function judgeNotOwned(
  answer: Answer<ReleaseReply> & { ok: true },
  reply: NotOwned,
  hold: SettledHold,
): Ending {
  const byOther = wasGrantedBefore(reply, hold);
  const foundLost =
    !hold.wasLost && (byOther || (answer.receivedMs < hold.leaseEndMs && !answer.mayBeResent));
  const isDoubtful = answer.mayBeResent && !byOther && !hold.wasLost;
  const result = isDoubtful ? failedResult(LOST_ANSWER) : notOwned(reply);
  return { result, foundLost, gone: isDoubtful ? undefined : reply, needsCleanUp: false };
}

/** Another was granted the lock before the work settled, by Redis's own clock. */
function wasGrantedBefore(
  { latestFence, latestGrantUs }: NotOwned,
  { fence, settledUs }: SettledHold,
): boolean {
  if (latestGrantUs === null || settledUs === undefined) return false;
  return wasGrantedBeforeEnd({ fence, latestFence: latestFence ?? undefined, latestGrantUs, settledUs });
}
