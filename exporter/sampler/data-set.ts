import type { BatchCommand, SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import { StepFailure } from './step.js';

/**
 * Names the data that a server has now: another name means that what was seen before may be gone as a whole. `null`
 * where it cannot be known, since INFO is not allowed. Rejects with {@link StepFailure} and with nothing else.
 */
export type ReadDataSet = () => Promise<string | null>;

/** One section a call: servers before version 7 take no more. */
const SECTIONS: readonly BatchCommand[] = ['server', 'replication', 'commandstats'].map((section) => [
  'INFO',
  section,
]);

/**
 * Restart and failover change the run id; another master, the replication id; what empties a database is counted by the
 * server. Not seen: a great many single deletions, and evictions.
 */
const MARKS: readonly RegExp[] = [
  /^run_id:(\w{1,40})\r?$/m,
  /^master_replid:(\w{1,40})\r?$/m,
  /^cmdstat_flushall:calls=(\d+)/m,
  /^cmdstat_flushdb:calls=(\d+)/m,
  /^cmdstat_swapdb:calls=(\d+)/m,
];

/** One round trip of some 100 µs of the server. */
export function dataSetReader(redis: Pick<SampleRedis, 'batch'>): ReadDataSet {
  return async () => {
    const replies = await redis.batch(SECTIONS);
    failIfSilent(replies);
    if (!replies.every(Buffer.isBuffer)) return null;
    const text = replies.map(String).join('\n');
    const [run, ...others] = MARKS.map((mark) => mark.exec(text)?.[1] ?? '-');
    return run === '-' ? null : [run, ...others].join(' ');
  };
}

/** A server that does not answer will not answer a step either; one that refuses only this may. */
function failIfSilent(replies: readonly unknown[]): void {
  for (const reply of replies) {
    const reason = reply instanceof Error ? redisReasonOf(reply) : undefined;
    if (reason === 'connection' || reason === 'command_timeout')
      throw new StepFailure(reason, { cause: reply });
  }
}
