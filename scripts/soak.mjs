// `npm run soak -- --minutes 10`: 20 client processes on one Redis and one exporter for a while. Redis and exporter
// are restarted now and then, and the page is scraped every second. Ends with code 0 when memory stayed flat, both
// sums of the event contract hold, and no counter was wrong; else 1, with one line for each fault.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureDependencies, ensurePrograms, ROOT, requireNode } from './setup.mjs';

const CLIENTS = 20;
/** Parts of the run, after which Redis or the exporter is killed and started again. */
const RESTARTS = { redis: [0.25, 0.6], exporter: [0.4, 0.8] };
const SETTLE_MS = 30_000;
/** Half of Prometheus's default. */
const SCRAPE_TIMEOUT_MS = 5000;
/** RSS of the exporter may grow by this much from the first to the last third since its start: garbage and code. */
const FLAT_BYTES = 40_000_000;

requireNode();
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const durationMs = Number(values.minutes) * 60_000;
if (!(durationMs >= 30_000)) {
  console.error('usage: npm run soak -- [--minutes N], at least 0.5');
  process.exit(2);
}
ensurePrograms(['redis-server']);
ensureDependencies();
ensureBuilt();

const children = new Set();
const faults = [];
const folder = mkdtempSync(join(tmpdir(), 'soak-'));

async function soak() {
  const [redisPort, metricsPort, localPort] = await Promise.all([freePort(), freePort(), freePort()]);
  let redis = await startRedis(redisPort);
  let exporter = await startExporter(redisPort, metricsPort, localPort);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => startClient(index, redisPort, localPort)),
  );
  const watch = new Watch(`http://127.0.0.1:${metricsPort}/metrics`);
  const startMs = performance.now();
  const plan = planRestarts();
  while (performance.now() - startMs < durationMs) {
    const elapsed = (performance.now() - startMs) / durationMs;
    if (plan[0] && elapsed >= plan[0].at) {
      const { what } = plan.shift();
      console.log(`${Math.round(elapsed * 100)} %: ${what} is killed and started again`);
      await end(what === 'redis' ? redis : exporter);
      if (what === 'redis') redis = await startRedis(redisPort);
      else exporter = await startExporter(redisPort, metricsPort, localPort);
      watch.forget(what === 'exporter');
    }
    await watch.scrape(elapsed);
    await sleep(1000);
  }
  const books = await settle(clients);
  await watch.scrape(1);
  judgeClients(books);
  judgeExporter(watch);
  tell(books, watch);
  return faults.length === 0 ? 0 : 1;
}

function planRestarts() {
  return Object.entries(RESTARTS)
    .flatMap(([what, parts]) => parts.map((at) => ({ what, at })))
    .sort((a, b) => a.at - b.at);
}

/** Lets every client end its work, deliver the rest, and tell its books. */
async function settle(clients) {
  const asked = clients.map(async (client) => {
    client.child.stdin.write('stop\n');
    const told = await Promise.race([client.books, sleep(SETTLE_MS)]);
    if (told === undefined) faults.push(`client ${client.index} did not settle within ${SETTLE_MS} ms`);
    return told;
  });
  return (await Promise.all(asked)).filter((told) => told !== undefined);
}

function judgeClients(books) {
  for (const { index, emitted, accepted, rejected, queued, dropped } of books) {
    const lost = sum(Object.values(dropped));
    if (emitted !== accepted + rejected + lost + queued) faults.push(`client ${index}: its sum is wrong`);
    if (rejected > 0) faults.push(`client ${index}: ${rejected} events rejected`);
    if (lost > 0 || queued > 0) faults.push(`client ${index}: ${lost} events dropped, ${queued} left`);
  }
}

function judgeExporter(watch) {
  const now = watch.last;
  const received = total(now, 'exporter_events_received_total');
  const parts = [
    'exporter_events_total',
    'exporter_events_rejected_total',
    'exporter_events_duplicate_total',
  ];
  if (received !== sum(parts.map((name) => total(now, name)))) faults.push('exporter: its sum is wrong');
  for (const name of [
    'exporter_events_rejected_total',
    'exporter_seq_gaps_total',
    'exporter_producer_dropped_total',
  ]) {
    if (total(now, name) > 0) faults.push(`exporter: ${name} is ${total(now, name)}`);
  }
  for (const name of ['exporter_values_refused_total', 'exporter_render_errors_total']) {
    if (total(now, name) > 0) faults.push(`exporter: ${name} is ${total(now, name)}`);
  }
  faults.push(...watch.faults);
  const { first, lastRss } = watch.memory();
  if (lastRss - first > FLAT_BYTES)
    faults.push(`exporter: memory grew from ${mb(first)} to ${mb(lastRss)} MB`);
}

function tell(books, watch) {
  const { first, lastRss } = watch.memory();
  const emitted = sum(books.map((one) => one.emitted));
  const result = {
    minutes: Number(values.minutes),
    clients: books.length,
    scrapes: watch.scrapes,
    failedScrapes: watch.failed,
    slowestScrapeMs: Math.round(watch.slowestMs),
    emitted,
    accepted: sum(books.map((one) => one.accepted)),
    lockErrors: sum(books.map((one) => one.lockErrors)),
    rssMb: [mb(first), mb(lastRss)],
    pass: faults.length === 0,
  };
  console.log(JSON.stringify(result));
  for (const fault of faults) console.error(fault);
}

/** Scrapes, and watches that no counter goes down while the exporter runs. */
class Watch {
  scrapes = 0;
  failed = 0;
  slowestMs = 0;
  faults = [];
  last = new Map();
  #url;
  #rss = [];

  constructor(url) {
    this.#url = url;
  }

  /** After a restart of the exporter its counters begin at 0, and its memory anew. */
  forget(exporterRestarted) {
    if (!exporterRestarted) return;
    this.last = new Map();
    this.#rss = [];
  }

  async scrape() {
    const startMs = performance.now();
    try {
      const answer = await fetch(this.#url, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS) });
      this.#take(parsePage(await answer.text()));
      this.scrapes += 1;
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
    } catch (error) {
      this.failed += 1;
      this.faults.push(`scrape failed: ${error.message}`);
    }
  }

  #take(page) {
    for (const [series, value] of this.last) {
      const isCounter = /_(total|count|bucket)(\{|$)/.test(series);
      if (isCounter && !(page.get(series) >= value))
        this.faults.push(`${series} went from ${value} to ${page.get(series)}`);
    }
    for (const [series, value] of page) {
      if (!Number.isFinite(value) || value < 0) this.faults.push(`${series} is ${value}`);
    }
    this.last = page;
    this.#rss.push(page.get('process_resident_memory_bytes'));
  }

  /** Means of the first and the last third since the last restart, the first seconds left out: it warms up. */
  memory() {
    const warm = this.#rss.slice(Math.min(10, this.#rss.length - 1));
    const third = Math.max(1, Math.floor(warm.length / 3));
    const mean = (list) => sum(list) / list.length;
    return { first: mean(warm.slice(0, third)), lastRss: mean(warm.slice(-third)) };
  }
}

function parsePage(text) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

function total(page, name) {
  return sum(
    [...page].flatMap(([series, value]) => (series.startsWith(`redis_lock_${name}`) ? [value] : [])),
  );
}

function start(program, args, env = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

function line(child, pattern) {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (text) => pattern.test(text) && resolve(text));
    child.once('exit', (status) => reject(new Error(`${child.spawnargs[0]} ended (${status})`)));
  });
}

async function end(child) {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

async function startRedis(port) {
  const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = start('redis-server', args);
  await line(child, /Ready to accept connections/);
  return child;
}

async function startExporter(redisPort, metricsPort, localPort) {
  const flags = ['--redis-url', `redis://127.0.0.1:${redisPort}`, '--sample-schedule', '*/2 * * * * *'];
  const listen = [`--metrics-listen=127.0.0.1:${metricsPort}`, `--local-listen=127.0.0.1:${localPort}`];
  const bin = join(ROOT, 'dist', 'exporter', 'cli', 'bin.js');
  const child = start(process.execPath, [bin, ...flags, ...listen, '--first-increment-hold', '0s']);
  await line(child, /"msg":"listening"/);
  return child;
}

async function startClient(index, redisPort, localPort) {
  const env = {
    SOAK_REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    SOAK_INGEST_URL: `http://127.0.0.1:${localPort}`,
  };
  const child = start(process.execPath, [join(ROOT, 'scripts', 'soak-client.mjs'), String(index)], env);
  const books = line(child, /^\{/).then(
    (text) => JSON.parse(text),
    () => undefined,
  );
  return { index, child, books };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function sum(list) {
  return list.reduce((before, value) => before + value, 0);
}

function mb(bytes) {
  return Math.round(bytes / 100_000) / 10;
}

// Also after a fault or a signal: nothing that was started may stay behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
process.exit(await soak());
