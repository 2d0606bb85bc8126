import type { SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';

/** Reads the run id of the server behind a connection; `null` where INFO is not allowed. Never rejects. */
export type ReadServerId = () => Promise<string | null>;

/** Asks once for each connection: a restarted server has another id. */
export function serverIdReader(redis: Pick<SampleRedis, 'batch' | 'connections'>): ReadServerId {
  let known: { connection: number; id: string | null } | undefined;
  return async () => {
    const connection = redis.connections();
    if (known?.connection === connection) return known.id;
    const [reply] = await redis.batch([['INFO', 'server']]);
    const id = Buffer.isBuffer(reply)
      ? (/^run_id:(\w{1,40})\r?$/m.exec(reply.toString('latin1'))?.[1] ?? null)
      : null;
    const refused = reply instanceof Error && redisReasonOf(reply) === 'no_permission';
    if (id !== null || refused) known = { connection, id };
    return id;
  };
}
