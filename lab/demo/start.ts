// The main job without a Redis of one's own: a private redis-server, the exporter, and workers that contend.
import { fileURLToPath } from 'node:url';
import { Part } from '../processes/part.js';
import { startPrivateRedis } from '../processes/private-redis.js';
import { readSample, summarise } from './summary.js';

const WORKERS = 4;
const SUMMARY_EVERY_MS = 5000;
/** Shorter than the default minute, so that first losses show soon; a Prometheus that scrapes each 5 s still sees the 0. */
const FIRST_INCREMENT_HOLD_S = 10;
/** By then every kind of work has come up, and what was held back for its first seconds has been published: rates are true. */
const FIRST_SAMPLE_S = FIRST_INCREMENT_HOLD_S + 5;

/** What the exporter says when it listens. */
interface Listening {
  metrics: string;
  local: string;
  store: string;
}

const parts: Part[] = [];
let finishing = false;

/** Ends the parts, last started first, and then this process. */
async function finish(code: number): Promise<void> {
  if (finishing) return;
  finishing = true;
  if (code === 0) console.log('Stopping: workers give their locks back, then everything ends.');
  // Workers give their locks back and deliver their last events while exporter and Redis still live.
  const workers = parts.filter((part) => part.name.startsWith('worker'));
  await Promise.all(workers.map((part) => part.stop()));
  for (const part of parts.filter((candidate) => !workers.includes(candidate)).reverse()) await part.stop();
  if (code === 0) console.log('Stopped.');
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

function startExporter(redisUrl: string, flags: readonly string[]): Promise<Listening> {
  const script = fileURLToPath(new URL('../../exporter/cli/bin.js', import.meta.url));
  const defaults = [
    '--first-increment-hold',
    `${FIRST_INCREMENT_HOLD_S}s`,
    '--sample-schedule',
    '*/5 * * * * *',
    '--shutdown-grace',
    '1s',
  ];
  return new Promise((resolve) => {
    const onLine = (line: string) => {
      const addresses = readAddresses(line);
      if (addresses) resolve(addresses);
      else if (!isExpected(line)) console.error(`exporter: ${line}`);
    };
    const args = [script, '--redis-url', redisUrl, ...defaults, ...flags];
    keep(new Part({ name: 'exporter', program: process.execPath, args, onLine }));
  });
}

/** Overlaps and the like are what the demo makes: the summary counts them. */
function isExpected(line: string): boolean {
  return (
    line.includes('"level":"info"') ||
    /"msg":"(overlap|ghost holder|fence regression|further findings)/.test(line)
  );
}

function readAddresses(line: string): Listening | undefined {
  try {
    const { msg, metrics, local, store } = JSON.parse(line);
    return msg === 'listening' ? { metrics: openable(metrics), local: openable(local), store } : undefined;
  } catch {
    return undefined;
  }
}

/** 0.0.0.0 is where to listen, not where to look. */
function openable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function startWorker(index: number, redisUrl: string, { local, store }: Listening): void {
  const script = fileURLToPath(new URL('./worker.js', import.meta.url));
  const env = {
    DEMO_REDIS_URL: redisUrl,
    DEMO_INGEST_URL: local,
    DEMO_STORE: store,
    DEMO_WORKER: `${index}`,
  };
  const onLine = (line: string) => console.error(`worker ${index}: ${line}`);
  keep(new Part({ name: `worker ${index}`, program: process.execPath, args: [script], env, onLine }));
}

async function main(): Promise<void> {
  const redis = await startPrivateRedis();
  keep(redis.part);
  const addresses = await startExporter(redis.url, process.argv.slice(2));
  for (let index = 1; index <= WORKERS; index += 1) startWorker(index, redis.url, addresses);
  console.log(`Redis      ${redis.url}`);
  console.log(`Metrics    ${addresses.metrics}/metrics`);
  console.log(`Status     ${addresses.local}/api/v1/status`);
  console.log(`Locks now  ${addresses.local}/api/v1/locks`);
  console.log(`Findings   ${addresses.local}/api/v1/findings`);
  console.log(`${WORKERS} worker processes take locks; some overrun their lease. Ctrl-C stops everything.`);
  const firstLineS = FIRST_SAMPLE_S + SUMMARY_EVERY_MS / 1000;
  console.log(
    `First figures in ${firstLineS} s: a new counter shows 0 for its first ${FIRST_INCREMENT_HOLD_S} s, so that Prometheus sees it rise.`,
  );
  await summariseForEver(addresses.metrics);
}

async function summariseForEver(metricsUrl: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, FIRST_SAMPLE_S * 1000));
  let before = await readSample(metricsUrl);
  setInterval(async () => {
    const now = await readSample(metricsUrl);
    if (before && now && !finishing) console.log(summarise(before, now));
    before = now ?? before;
  }, SUMMARY_EVERY_MS);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void finish(0));
main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  void finish(1);
});
