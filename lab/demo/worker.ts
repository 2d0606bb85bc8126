// One worker process of the demo. Ends in order on SIGTERM: gives its locks back and delivers its last events.
import { createHttpEmitter, createLockConnection, LockClient } from '../../client/index.js';
import { keepForeignKeys } from './foreign-keys.js';
import { work } from './workload.js';

const LAST_EVENTS_MS = 2000;

async function main(): Promise<void> {
  const {
    DEMO_REDIS_URL: url = '',
    DEMO_INGEST_URL: ingest = '',
    DEMO_STORE: store = 'default',
    DEMO_WORKER: worker = '0',
  } = process.env;
  const redis = createLockConnection({ url });
  const emitter = createHttpEmitter({ url: ingest, app: 'demo', instance: `worker-${worker}` });
  const client = new LockClient({ redis, store, emitter });
  let stopped = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => (stopped = true));
  const desk = { client, random: Math.random, worker, store: redis };
  const foreign = worker === '1' ? keepForeignKeys(redis) : undefined;
  await Promise.all(Array.from({ length: 3 }, () => work(desk, () => stopped)));
  await foreign?.stop();
  await client.close(LAST_EVENTS_MS);
  redis.disconnect();
}

await main();
