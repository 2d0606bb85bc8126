import type { Clock } from '../../contract/clock.js';
import type { LockScripts } from '../../lua/scripts.js';
import type { SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import { scriptConnection } from './script-connection.js';
import { costOfScript } from './server-time.js';
import { MAX_VALUE_BYTES, type SampleStep, StepFailure } from './step.js';

/** What the step needs of the script bindings. */
export type SampleScript = Pick<LockScripts, 'sample'>;

/** Looks by the `sample` script: one round trip, one moment in time. The script itself measures what it costs. */
export function createScriptStep(
  redis: Pick<SampleRedis, 'call'>,
  scripts: SampleScript,
  clock: Clock,
): SampleStep {
  const connection = scriptConnection(redis);
  return async ({ cursor, lockKeys, count }) => {
    const { pattern, exact } = lockKeys;
    const prefixes = exact ? [] : lockKeys.prefixes;
    const args = { cursor, pattern, count, withOwners: true, maxValueBytes: MAX_VALUE_BYTES, prefixes };
    const sentMs = clock.monoMs();
    try {
      const reply = await scripts.sample(connection, args);
      return { ...reply, costUs: costOfScript(reply.tookUs, (clock.monoMs() - sentMs) * 1000) };
    } catch (error) {
      throw new StepFailure(redisReasonOf(error), { cause: error });
    }
  };
}
