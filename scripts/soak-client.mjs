// One of the clients of `npm run soak`: takes locks that others want too, some for longer than their lease. On the
// line "stop" it ends its work, delivers its last events, and tells its books as one line of JSON.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpEmitter, createLockConnection, LockClient } from 'redis-lock-exporter/client';

const { SOAK_REDIS_URL: url, SOAK_INGEST_URL: ingest } = process.env;
const index = Number(process.argv[2]);
const SETTLE_MS = 20_000;

// Enough for an outage of the exporter of some minutes.
const emitter = createHttpEmitter({ url: ingest, app: 'soak', queueLimit: 100_000, onWarning: () => {} });
let channel;
const watched = { open: (source) => (channel = emitter.open(source)) };
const redis = createLockConnection({ url });
redis.on('error', () => {});
const client = new LockClient({ redis, emitter: watched });
let stopped = false;
let lockErrors = 0;

createInterface({ input: process.stdin }).once('line', () => {
  stopped = true;
});
await Promise.all([work('stock', 300), work('orders', 1000), work('own', 500, `${index}`)]);
await client.close(2000);
const untilMs = performance.now() + SETTLE_MS;
while (channel && channel.stats().queued > 0 && performance.now() < untilMs) await sleep(50);
console.log(JSON.stringify({ index, lockErrors, ...channel?.stats() }));
redis.disconnect();
process.stdin.destroy();

async function work(resource, leaseMs, own = '') {
  while (!stopped) {
    const key = `lock:${resource}:${own}${Math.floor(Math.random() * 10)}`;
    const overrun = Math.random() < 0.01 ? leaseMs * 1.2 : 0;
    const watchdog = Math.random() < 0.2;
    try {
      await client.withLock(key, { leaseMs, waitMs: 200, watchdog }, () =>
        sleep(overrun + Math.random() * 60),
      );
    } catch {
      // Contended, lost, or Redis is away: all of it is in the events.
      lockErrors += 1;
      await sleep(50);
    }
    await sleep(Math.random() * 100);
  }
}
