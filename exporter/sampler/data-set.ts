import type { BatchCommand, SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import { StepFailure } from './step.js';

/** The data that a server has at a time. */
export interface DataSet {
  /** Another name means other data: restart, failover, another master, FLUSHALL or SWAPDB. `null`: INFO is not allowed. */
  readonly name: string | null;
  /** How often FLUSHDB was called, for whichever database. */
  readonly flushes: number;
  /** Keys of the database that is looked at. */
  readonly keys: number;
}

/** Reads what data a server has. Rejects with {@link StepFailure} and with nothing else. */
export type ReadDataSet = () => Promise<DataSet>;

/** One section a call: servers before version 7 take no more. */
const SECTIONS: readonly BatchCommand[] = ['server', 'replication', 'commandstats', 'keyspace'].map(
  (section) => ['INFO', section],
);

/** What makes a name. Not seen: a great many single deletions, and evictions. */
const MARKS: readonly RegExp[] = [
  /^run_id:(\w{1,40})\r?$/m,
  /^master_replid:(\w{1,40})\r?$/m,
  /^cmdstat_flushall:calls=(\d+)/m,
  /^cmdstat_swapdb:calls=(\d+)/m,
];

const UNKNOWN: DataSet = Object.freeze({ name: null, flushes: 0, keys: 0 });

/** One round trip of some 100 µs of the server. @param db number of the database that is looked at */
export function dataSetReader(redis: Pick<SampleRedis, 'batch'>, db: number): ReadDataSet {
  return async () => {
    const replies = await redis.batch(SECTIONS);
    failIfSilent(replies);
    if (!replies.every(Buffer.isBuffer)) return UNKNOWN;
    const text = replies.map(String).join('\n');
    const [run, ...others] = MARKS.map((mark) => mark.exec(text)?.[1] ?? '-');
    const count = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
    const flushes = count(/^cmdstat_flushdb:calls=(\d+)/m);
    const keys = count(new RegExp(`^db${db}:keys=(\\d+)`, 'm'));
    return { name: run === '-' ? null : [run, ...others].join(' '), flushes, keys };
  };
}

/**
 * Whether what was known `before` is of other data than those of `now`. FLUSHDB may have been for another database:
 * it counts when fewer keys are left than are known.
 */
export function isOtherData(
  before: DataSet & { readonly connection: number },
  now: DataSet & { readonly connection: number },
  knownKeys: () => number,
): boolean {
  if (before.name === null || now.name === null) return before.connection !== now.connection;
  if (before.name !== now.name) return true;
  return before.flushes !== now.flushes && now.keys < knownKeys();
}

/** A server that does not answer will not answer a step either; one that refuses only this may. */
function failIfSilent(replies: readonly unknown[]): void {
  for (const reply of replies) {
    const reason = reply instanceof Error ? redisReasonOf(reply) : undefined;
    if (reason === 'connection' || reason === 'command_timeout')
      throw new StepFailure(reason, { cause: reply });
  }
}
