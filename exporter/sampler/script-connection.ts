import type { SampleConnection } from '../../lua/connection.js';
import type { SampleRedis } from './connection.js';

/** A connection as the bindings of the scripts want it: a command that fails rejects. */
export function scriptConnection(redis: Pick<SampleRedis, 'call'>): SampleConnection {
  return {
    callBuffer: async (command, ...args) => {
      const reply = await redis.call([command, ...args]);
      if (reply instanceof Error) throw reply;
      return reply;
    },
  };
}
