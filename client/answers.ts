import type { NotOwned } from '../lua/replies.js';
import type { LatestGrant } from './events.js';
import type { RedisFailure } from './redis-errors.js';
import type { FailedResult, NotOwnedResult } from './results.js';

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
