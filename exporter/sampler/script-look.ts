import type { Clock } from '../../contract/clock.js';
import type { KeyState } from '../../lua/key-state.js';
import type { LookedKeys } from '../../lua/looked-keys.js';
import type { LoadedScripts } from '../../lua/scripts.js';
import type { KeyLook, KeySight, KeySights } from './key-look.js';
import { redisReasonOf } from './redis-reason.js';
import { type MeteredRedis, ScriptMeter } from './script-meter.js';
import type { ReadServerId } from './server-id.js';
import { MAX_VALUE_BYTES, StepFailure } from './step.js';

/** What the look needs of the script bindings. */
export type LookScript = Pick<LoadedScripts, 'look'>;

/** Looks by the `look` script: all keys in one moment, and nothing is made for any of them. */
export function createScriptLook(
  redis: MeteredRedis,
  scripts: LookScript,
  clock: Clock,
  readServerId: ReadServerId,
): KeyLook {
  const meter = new ScriptMeter(redis, clock);
  return async (keys) => {
    const serverId = await readServerId();
    try {
      const { reply, costUs } = await meter.measure((connection) =>
        scripts.look(connection, { maxValueBytes: MAX_VALUE_BYTES, keys }),
      );
      return { moment: { serverUs: reply.serverUs, serverId }, sights: readSights(reply.keys), costUs };
    } catch (error) {
      throw new StepFailure(redisReasonOf(error), { cause: error });
    }
  };
}

function readSights(keys: LookedKeys): KeySights {
  return {
    forEach: (take) => {
      keys.forEach((seen, at) => {
        take({ state: stateOf(seen), seen }, at);
      });
    },
  };
}

function stateOf(seen: KeyState): KeySight['state'] {
  if (seen.isElsewhere) return 'elsewhere';
  return seen.isGone ? 'gone' : 'there';
}
