// A process that takes locks through the built client and can be killed, paused or kept busy at any moment.
// Environment: HOLDER_REDIS_URL, or HOLDER_SENTINEL_PORT of a Sentinel on this machine; HOLDER_STORE, HOLDER_INGEST_URL
// and HOLDER_REQUEST_TIMEOUT_MS (all optional).
// Commands: see the operations below.
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpEmitter, createLockConnection, LockClient } from 'redis-lock-exporter/client';
import { serveCommands, tell } from './child-loop.mjs';

const { HOLDER_REDIS_URL, HOLDER_SENTINEL_PORT, HOLDER_STORE = 'default', HOLDER_INGEST_URL } = process.env;
const sentinels = [{ host: '127.0.0.1', port: Number(HOLDER_SENTINEL_PORT) }];
const redis = createLockConnection(HOLDER_SENTINEL_PORT ? { sentinels } : { url: HOLDER_REDIS_URL });
/** A fenced store: takes a write unless it has seen a later fence. Answers the highest fence it had seen. */
const FENCED_WRITE = `local seen = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if tonumber(ARGV[1]) >= seen then redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2]) end
return string.format('%.0f', seen)`;
const requestTimeoutMs = Number(process.env.HOLDER_REQUEST_TIMEOUT_MS ?? 5000);
const emitter = HOLDER_INGEST_URL
  ? createHttpEmitter({ url: HOLDER_INGEST_URL, app: 'holder', requestTimeoutMs })
  : undefined;
/** The channel that the client opens: only that tells what became of the events. */
let channel;
const watched = emitter && { open: (source) => (channel = emitter.open(source)) };
const client = new LockClient({ redis, store: HOLDER_STORE, ...(watched && { emitter: watched }) });

const leases = new Map();
let halted = false;

function leaseOf(hold) {
  const lease = leases.get(hold);
  if (lease === undefined) throw new Error(`no hold "${hold}"`);
  return lease;
}

serveCommands({
  /** `{key, …options}` → `{hold, fence, remainingMs}`; tells `lost {hold}` when the lease is lost later. */
  async acquire({ key, ...options }) {
    const lease = await client.acquire(key, options);
    const hold = `${key}#${leases.size + 1}`;
    leases.set(hold, lease);
    lease.signal.addEventListener('abort', () => tell('lost', { hold }), { once: true });
    return { hold, fence: lease.fence, remainingMs: lease.remainingMs() };
  },
  /** `{hold}` → what the lease says by itself, without asking Redis. */
  state: ({ hold }) => ({ valid: leaseOf(hold).isValid(), remainingMs: leaseOf(hold).remainingMs() }),
  async check({ hold }) {
    return { result: await leaseOf(hold).check() };
  },
  async renew({ hold, leaseMs }) {
    return { result: await leaseOf(hold).renew(leaseMs) };
  },
  /** Takes and gives back `count` locks, one after the other, with a pause between two. */
  async cycles({ key, count, pauseMs = 0, ...options }) {
    for (let index = 0; index < count; index += 1) {
      await client.withLock(`${key}${index}`, options, () => sleep(pauseMs));
    }
    return {};
  },
  /**
   * Takes and gives back one lock in each of `lanes` until `halt`, with a pause in the work and one after it. A call
   * that fails is counted and not the end.
   */
  async traffic({ key, lanes = 1, pauseMs = 0, restMs = 0, ...options }) {
    const counts = { done: 0, failed: 0 };
    const drive = async (lane) => {
      while (!halted) {
        const work = client.withLock(`${key}${lane}`, options, () => sleep(pauseMs));
        await work.then(
          () => (counts.done += 1),
          () => (counts.failed += 1),
        );
        await sleep(restMs);
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, lane) => drive(lane)));
    return counts;
  },
  /** Takes and gives back `count` locks as fast as it goes, `lanes` at a time. */
  async rush({ key, lanes, count, ...options }) {
    const startMs = performance.now();
    let left = count;
    const drive = async (lane) => {
      while (left-- > 0) await (await client.acquire(`${key}${lane}`, options)).release();
    };
    await Promise.all(Array.from({ length: lanes }, (_, lane) => drive(lane)));
    return { tookMs: performance.now() - startMs, rssBytes: process.memoryUsage.rss() };
  },
  halt() {
    halted = true;
    return {};
  },
  /** What became of the events so far. */
  stats: () => ({ ...channel?.stats() }),
  /** Ends the connection to Redis, and nothing else. */
  disconnect() {
    redis.disconnect();
  },
  /** Delivers the last events and ends the client. */
  async close() {
    await client.close();
    redis.disconnect();
  },
  /** Writes to a fenced store under a lease that may be lost, and reports what the store said. */
  async write({ hold, key, value }) {
    const lease = leaseOf(hold);
    const seen = Number(await redis.eval(FENCED_WRITE, 1, key, String(lease.fence), value));
    const outcome = lease.fence >= seen ? 'accepted' : 'rejected';
    lease.reportFence(outcome, seen);
    return { outcome };
  },
  async release({ hold }) {
    return { result: await leaseOf(hold).release() };
  },
});
