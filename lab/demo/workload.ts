import type { AcquireOptions, Lease, LockClient } from '../../client/index.js';
import { type Random, RedisLockError } from '../../contract/index.js';

/** What a job needs. */
export interface Desk {
  client: LockClient;
  random: Random;
  worker: string;
  /** Stands for the database of the application. */
  store: { eval(script: string, keys: number, key: string, fence: number): Promise<unknown> };
}

/** One kind of work: how often it comes up, and what it does. Losing its lock is an answer, not a fault. */
interface Job {
  weight: number;
  run(desk: Desk): Promise<void>;
}

/**
 * The mix. Weights are chosen so that every family moves within a minute: mostly healthy work with contention, a
 * watchdog lock that is renewed, and now and then a hold beyond its lease.
 */
const JOBS: readonly Job[] = [
  { weight: 50, run: takeStock },
  { weight: 25, run: tryOrder },
  { weight: 8, run: writeReport },
  { weight: 12, run: payShared },
  { weight: 3, run: overrunAlone },
];

/** Takes one job after the other until `stopped` says so. */
export async function work(desk: Desk, stopped: () => boolean): Promise<void> {
  while (!stopped()) {
    await pick(desk.random).run(desk);
    await pause(desk, 20, 200);
  }
}

function pick(random: Random): Job {
  let left = random() * JOBS.reduce((sum, job) => sum + job.weight, 0);
  for (const job of JOBS) {
    left -= job.weight;
    if (left < 0) return job;
  }
  return { weight: 0, run: tryOrder };
}

/** Few keys, short work, waiting callers: contention and waits. */
async function takeStock(desk: Desk): Promise<void> {
  const key = `lock:stock:${below(desk, 3)}`;
  await hold(desk, key, { leaseMs: 2000, waitMs: 400 }, () => pause(desk, 20, 250));
}

/** Callers that would not wait: contended is a normal answer. */
async function tryOrder(desk: Desk): Promise<void> {
  const result = await desk.client.tryAcquire(`lock:order:${below(desk, 4)}`, { leaseMs: 3000 });
  if (result.outcome !== 'acquired') return;
  await pause(desk, 50, 400);
  await result.lease.check();
  result.lease.committed();
  await result.lease.release();
}

/** Work longer than the lease, kept alive by the watchdog. */
async function writeReport(desk: Desk): Promise<void> {
  await hold(desk, 'lock:report:daily', { leaseMs: 900, watchdog: true }, () => pause(desk, 1500, 3000));
}

/** One hot key with a short lease. One in eight holds overruns it while others wait: they overlap. */
async function payShared(desk: Desk): Promise<void> {
  const slow = desk.random() < 0.12;
  await hold(desk, 'lock:payment:shared', { leaseMs: 600, waitMs: 1500 }, async (lease) => {
    await (slow ? pause(desk, 1200, 1500) : pause(desk, 20, 90));
    await writeFenced(desk, lease);
  });
}

/** A write that its store refuses when it has taken a higher fence: the highest is kept beside the data. */
async function writeFenced(desk: Desk, lease: Lease): Promise<void> {
  const fence = lease.fence ?? 0;
  const seen = Number(await desk.store.eval(WRITE_FENCED, 1, 'demo:payments', fence));
  lease.reportFence(seen > fence ? 'rejected' : 'accepted', seen);
}

/** Takes the write unless a higher fence was taken; answers the highest that was seen before or with it. */
const WRITE_FENCED = `
local seen = tonumber(redis.call('GET', KEYS[1]) or '0')
local fence = tonumber(ARGV[1])
if fence >= seen then redis.call('SET', KEYS[1], string.format('%.0f', fence)) end
return string.format('%.0f', math.max(seen, fence))`;

/** A key of its own, held beyond its lease: lost, though nobody else came. */
async function overrunAlone(desk: Desk): Promise<void> {
  const key = `lock:invoice:${desk.worker}-${below(desk, 1_000_000)}`;
  await hold(desk, key, { leaseMs: 400 }, () => pause(desk, 700, 900));
}

async function hold(
  desk: Desk,
  key: string,
  options: AcquireOptions,
  body: (lease: Lease) => Promise<void>,
): Promise<void> {
  try {
    await desk.client.withLock(key, options, body);
  } catch (error) {
    // Contended, timed out or lost: seen in the metrics, which is what the demo is for.
    if (!(error instanceof RedisLockError)) throw error;
  }
}

function below(desk: Desk, count: number): number {
  return Math.floor(desk.random() * count);
}

/** The work itself: some time between the two bounds. */
function pause(desk: Desk, fromMs: number, toMs: number): Promise<void> {
  const ms = fromMs + desk.random() * (toMs - fromMs);
  return new Promise((resolve) => setTimeout(resolve, ms));
}
