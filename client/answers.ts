import type { NotOwned, ReleaseReply } from '../lua/replies.js';
import type { Answer } from './command.js';
import type { LatestGrant } from './events.js';
import { isTransient, type RedisFailure, WRONG_TYPE } from './redis-errors.js';
import type { FailedResult, NotOwnedResult, ReleaseResult } from './results.js';

/** What a not-owned answer tells of the latest grant, without nulls. */
export function latestGrant(answer: NotOwned | undefined): LatestGrant {
  return {
    ...(answer?.latestFence == null ? {} : { latestFence: answer.latestFence }),
    ...(answer?.latestGrantUs == null ? {} : { latestGrantUs: answer.latestGrantUs }),
  };
}

/** A not-owned answer as the caller gets it. */
export function notOwned(reply: NotOwned): NotOwnedResult {
  return reply.latestFence === null
    ? { outcome: reply.word }
    : { outcome: reply.word, latestFence: reply.latestFence };
}

/** A failure as the caller gets it: `error` when Redis surely did nothing. */
export function failedResult({ reason, notDone, cause }: RedisFailure): FailedResult {
  return { outcome: notDone ? 'error' : 'unknown', reason, ...(cause === undefined ? {} : { cause }) };
}

/** The answer to a release as the caller gets it. */
export function releaseResult(answer: Answer<ReleaseReply>): ReleaseResult {
  if (!answer.ok) return failedResult(answer.failure);
  const { reply } = answer;
  switch (reply.word) {
    case 'released':
      return { outcome: 'released' };
    case 'expired':
    case 'stolen':
      return notOwned(reply);
    case 'wrong_type':
      return failedResult(WRONG_TYPE);
    default:
      return reply satisfies never;
  }
}

/** The lock may still be there, and another try may delete it. */
export function needsCleanUp(answer: Answer<ReleaseReply>): boolean {
  return !answer.ok && isTransient(answer.failure.reason);
}
