import type { Clock } from '../../contract/clock.js';
import type { KeyState } from '../../lua/key-state.js';
import type { LookedKeys } from '../../lua/looked-keys.js';
import type { LoadedScripts } from '../../lua/scripts.js';
import type { SampleRedis } from './connection.js';
import type { KeyLook, KeySight, KeySights } from './key-look.js';
import { redisReasonOf } from './redis-reason.js';
import { scriptConnection } from './script-connection.js';
import type { ReadServerId } from './server-id.js';
import { costOfScript } from './server-time.js';
import { MAX_VALUE_BYTES, StepFailure } from './step.js';

/** What the look needs of the script bindings. */
export type LookScript = Pick<LoadedScripts, 'look'>;

/** Looks by the `look` script: all keys in one moment, and nothing is made for any of them. */
export function createScriptLook(
  redis: Pick<SampleRedis, 'call'>,
  scripts: LookScript,
  clock: Clock,
  readServerId: ReadServerId,
): KeyLook {
  const connection = scriptConnection(redis);
  return async (keys) => {
    const serverId = await readServerId();
    const sentMs = clock.monoMs();
    try {
      const reply = await scripts.look(connection, { maxValueBytes: MAX_VALUE_BYTES, keys });
      const costUs = costOfScript(reply.tookUs, (clock.monoMs() - sentMs) * 1000);
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
