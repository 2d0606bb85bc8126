import type { Clock } from '../../contract/clock.js';
import type { LoadedScripts } from '../../lua/scripts.js';
import { createCommandStep } from './command-step.js';
import type { SampleRedis } from './connection.js';
import { dataSetReader } from './data-set.js';
import type { NodeParts } from './deployment.js';
import { createFallback } from './fallback.js';
import { createKeyLook } from './key-look.js';
import { createScriptLook } from './script-look.js';
import { createScriptStep } from './script-step.js';
import { serverIdReader } from './server-id.js';

/**
 * Gives a connection its ways to look: by script, by plain commands where that is not allowed, at keys by name.
 * @param db number of the database that the connection is on; 0 by default
 */
export function createNode(
  name: string,
  redis: SampleRedis,
  scripts: Pick<LoadedScripts, 'sample' | 'look'>,
  clock: Clock,
  db = 0,
): NodeParts {
  const readServerId = serverIdReader(redis);
  const step = createFallback(createScriptStep(redis, scripts, clock), createCommandStep(redis, clock));
  const lookAt = createFallback(
    createScriptLook(redis, scripts, clock, readServerId),
    createKeyLook(redis, clock, readServerId),
  );
  return { name, redis, step, readDataSet: dataSetReader(redis, db), lookAt };
}
