import type { Clock } from '../../contract/clock.js';
import type { LockScripts } from '../../lua/scripts.js';
import { redisReasonOf } from './redis-reason.js';
import { type MeteredRedis, ScriptMeter } from './script-meter.js';
import { MAX_VALUE_BYTES, type SampleStep, StepFailure } from './step.js';

/** What the step needs of the script bindings. */
export type SampleScript = Pick<LockScripts, 'sample'>;

/** Looks by the `sample` script: one round trip, one moment in time. */
export function createScriptStep(redis: MeteredRedis, scripts: SampleScript, clock: Clock): SampleStep {
  const meter = new ScriptMeter(redis, clock);
  return async ({ cursor, lockKeys, count }) => {
    const { pattern, exact } = lockKeys;
    const prefixes = exact ? [] : lockKeys.prefixes;
    const args = { cursor, pattern, count, withOwners: true, maxValueBytes: MAX_VALUE_BYTES, prefixes };
    try {
      const { reply, costUs } = await meter.measure((connection) => scripts.sample(connection, args));
      return { ...reply, costUs };
    } catch (error) {
      throw new StepFailure(redisReasonOf(error), { cause: error });
    }
  };
}
