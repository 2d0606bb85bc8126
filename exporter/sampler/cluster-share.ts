import type { SampleRedis } from './connection.js';
import { readSlots, SLOTS } from './slots.js';

/** Whether a server has all keys there are; false: it is one of several masters of a cluster. Never rejects. */
export type HasAllKeys = () => Promise<boolean>;

/**
 * For a server that is named by itself. A cluster of one master is whole; where a cluster's node may not be asked
 * for its slots it counts as a part. Asked again at each look of a cluster's node, since a cluster may grow.
 */
export function readShare(redis: Pick<SampleRedis, 'batch' | 'connections'>): HasAllKeys {
  let known: { connection: number; isCluster: boolean } | undefined;
  const isCluster = async () => {
    const connection = redis.connections();
    if (known?.connection === connection) return known.isCluster;
    const [reply] = await redis.batch([['INFO', 'server']]);
    if (!Buffer.isBuffer(reply)) return false;
    known = { connection, isCluster: /^redis_mode:cluster\r?$/m.test(reply.toString('latin1')) };
    return known.isCluster;
  };
  return async () => {
    if (!(await isCluster())) return true;
    const [reply] = await redis.batch([['CLUSTER', 'SLOTS']]);
    const ranges = readSlots(reply, { host: 'here', port: 0 });
    if (ranges === undefined) return false;
    const masters = new Set(ranges.map(({ master }) => `${master.host}:${master.port}`));
    return masters.size === 1 && ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0) === SLOTS;
  };
}
