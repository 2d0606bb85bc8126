// The main job without a Redis of one's own: a private redis-server, the exporter, and workers that contend.
import { fileURLToPath } from 'node:url';
import { Part } from '../processes/part.js';
import { startPrivateRedis } from '../processes/private-redis.js';
import { readSample, summarise } from './summary.js';

const WORKERS = 4;
const SUMMARY_EVERY_MS = 5000;
/** Shorter than the default minute, so that first losses show soon; a Prometheus that scrapes each 5 s still sees the 0. */
const FIRST_INCREMENT_HOLD = '10s';

interface Addresses {
  metrics: string;
  local: string;
}

const parts: Part[] = [];
let finishing = false;

/** Ends the parts, last started first, and then this process. */
async function finish(code: number): Promise<void> {
  if (finishing) return;
  finishing = true;
  // Workers give their locks back and deliver their last events while exporter and Redis still live.
  const workers = parts.filter((part) => part.name.startsWith('worker'));
  await Promise.all(workers.map((part) => part.stop()));
  for (const part of parts.filter((candidate) => !workers.includes(candidate)).reverse()) await part.stop();
  process.exit(code);
}

/** A part that ends unasked ends the demo: half a demo would show wrong numbers. */
function keep(part: Part): Part {
  parts.push(part);
  void part.ended.then((how) => {
    if (part.stopping || finishing) return;
    console.error(`${part.name} ended unexpectedly (${how}); stopping.`);
    void finish(1);
  });
  return part;
}

function startExporter(redisUrl: string, flags: readonly string[]): Promise<Addresses> {
  const script = fileURLToPath(new URL('../../exporter/cli/bin.js', import.meta.url));
  const defaults = ['--first-increment-hold', FIRST_INCREMENT_HOLD, '--sample-schedule', '*/5 * * * * *'];
  return new Promise((resolve) => {
    const onLine = (line: string) => {
      const addresses = readAddresses(line);
      if (addresses) resolve(addresses);
      else if (!line.includes('"level":"info"')) console.error(`exporter: ${line}`);
    };
    const args = [script, '--redis-url', redisUrl, ...defaults, ...flags];
    keep(new Part({ name: 'exporter', program: process.execPath, args, onLine }));
  });
}

function readAddresses(line: string): Addresses | undefined {
  try {
    const { msg, metrics, local } = JSON.parse(line);
    return msg === 'listening' ? { metrics, local } : undefined;
  } catch {
    return undefined;
  }
}

function startWorker(index: number, redisUrl: string, ingestUrl: string): void {
  const script = fileURLToPath(new URL('./worker.js', import.meta.url));
  const env = { DEMO_REDIS_URL: redisUrl, DEMO_INGEST_URL: ingestUrl, DEMO_WORKER: `${index}` };
  const onLine = (line: string) => console.error(`worker ${index}: ${line}`);
  keep(new Part({ name: `worker ${index}`, program: process.execPath, args: [script], env, onLine }));
}

async function main(): Promise<void> {
  const redis = await startPrivateRedis();
  keep(redis.part);
  const addresses = await startExporter(redis.url, process.argv.slice(2));
  for (let index = 1; index <= WORKERS; index += 1) startWorker(index, redis.url, addresses.local);
  console.log(`Redis      ${redis.url}`);
  console.log(`Metrics    ${addresses.metrics}/metrics`);
  console.log(`Status     ${addresses.local}/api/v1/status`);
  console.log(`Locks now  ${addresses.local}/api/v1/locks`);
  console.log(`${WORKERS} worker processes take locks; some overrun their lease. Ctrl-C stops everything.`);
  let before = await readSample(addresses.metrics);
  setInterval(async () => {
    const now = await readSample(addresses.metrics);
    console.log(summarise(before, now, SUMMARY_EVERY_MS / 1000));
    before = now;
  }, SUMMARY_EVERY_MS);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void finish(0));
main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  void finish(1);
});
