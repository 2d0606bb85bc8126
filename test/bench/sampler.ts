import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { systemClock } from '../../contract/clock.js';
import { createResourceClassifier } from '../../contract/resource.js';
import { connectSampler, type SampleRedis } from '../../exporter/sampler/connection.js';
import { type Deployment, singleServer } from '../../exporter/sampler/deployment.js';
import { lockKeys } from '../../exporter/sampler/key-pattern.js';
import { KeyspaceSource } from '../../exporter/sampler/keyspace-source.js';
import { KeyspaceView } from '../../exporter/sampler/keyspace-view.js';
import { createNode } from '../../exporter/sampler/node.js';
import type { SampleStep } from '../../exporter/sampler/step.js';
import { loadLockScripts } from '../../lua/scripts.js';
import { freePort } from '../support/free-port.js';
import { httpGet } from '../support/http.js';
import { spawnChild } from '../support/processes.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { type BenchResult, judge } from './result.js';
import { type Candidate, measureInRounds, type RoundPlan } from './rounds.js';
import { median, quantile, ratios } from './statistics.js';

const KEYS = 1_000_000;
const LOCKS = 100_000;
/** DESIGN, section 10. */
const BARS = { expiry: 1.25, owners: 1.6, stallUs: 1000, redisExporter: 15 } as const;
/** One caller: a sweep is one chain of steps. */
const CALLERS = 1;
/** Default of --sample-schedule: how often a sweep costs what it costs. */
const INTERVAL_MS = 15_000;
const PEER = 'prometheus-redis-exporter';
const LEASE_MS = 3_600_000;

/** Sweeps beside the bare SCAN of the same keyspace, stalls of the server, and redis_exporter's key check where it is installed. */
export async function runSamplerBench(plan: Omit<RoundPlan, 'callers'>): Promise<BenchResult[]> {
  return [
    ...(await onRedis((server) => compareSweeps(server, plan))),
    ...(await onRedis((server) =>
      measureStalls(server, 'every key is a lock', (redis) => addLocks(redis, LOCKS)),
    )),
    ...(await onRedis((server) => measureStalls(server, 'huge values', addHugeValues))),
    ...(await onRedis(measureSteadyState)),
  ];
}

async function onRedis(measure: (server: RedisServer) => Promise<BenchResult[]>): Promise<BenchResult[]> {
  const server = await startRedis({ args: ['--enable-debug-command', 'yes'] });
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

async function compareSweeps(server: RedisServer, plan: Omit<RoundPlan, 'callers'>): Promise<BenchResult[]> {
  const redis = server.client();
  await addOthers(redis, KEYS - LOCKS);
  await addLocks(redis, LOCKS);
  const sweeper = makeSweeper(server);
  await sweeper.sweep();
  const count = Math.round(KEYS / sweeper.costsUs.length);
  const scripts = loadLockScripts();
  const meter = new ServerCpu(redis);
  const candidates: Candidate[] = [
    { name: 'bare', run: () => meter.run('bare', () => scanAll(redis, count)) },
    { name: 'expiry', run: () => meter.run('expiry', () => scanExpiries(redis, count, scripts)) },
    { name: 'owners', run: () => meter.run('owners', () => sweeper.sweep()) },
  ];
  const turns = await measureInRounds(candidates, { ...plan, callers: CALLERS });
  const rates = (name: string) => turns.get(name)?.rates ?? [];
  const against = (name: 'expiry' | 'owners') =>
    judge(
      'sampler',
      `sweep with ${name} / bare SCAN`,
      ratios(rates('bare'), rates(name)),
      BARS[name],
      {
        serverCpuRatio: meter.medianMs(name) / meter.medianMs('bare'),
        sweepMs: Math.round(1000 / median(rates(name))),
        bareMs: Math.round(1000 / median(rates('bare'))),
        count,
      },
      'at_most',
    );
  const results = [against('expiry'), against('owners'), stallOf('1 in 10 keys is a lock', sweeper.costsUs)];
  const peerMs = await timePeer(server);
  sweeper.close();
  if (peerMs === undefined) return results;
  const ownMs = 1000 / median(rates('owners'));
  return [
    ...results,
    judge('sampler', 'redis_exporter check-keys / sweep', [peerMs / ownMs], BARS.redisExporter, {
      peerMs: Math.round(peerMs),
    }),
  ];
}

async function measureStalls(
  server: RedisServer,
  name: string,
  fill: (redis: Redis) => Promise<void>,
): Promise<BenchResult[]> {
  await fill(server.client());
  const sweeper = makeSweeper(server);
  for (let sweeps = 0; sweeps < 10; sweeps += 1) await sweeper.sweep();
  sweeper.close();
  return [stallOf(name, sweeper.costsUs)];
}

/** What the sampler takes of a server that holds 1 M keys, 10 k of them locks, when it sweeps by the default schedule. */
async function measureSteadyState(server: RedisServer): Promise<BenchResult[]> {
  const redis = server.client();
  await addOthers(redis, KEYS - LOCKS / 10);
  await addLocks(redis, LOCKS / 10);
  const sweeper = makeSweeper(server);
  const shares: number[] = [];
  for (let sweeps = 0; sweeps < 10; sweeps += 1) {
    const before = await cpuMs(redis);
    await sweeper.sweep();
    shares.push(((await cpuMs(redis)) - before) / INTERVAL_MS);
  }
  sweeper.close();
  const details = { keys: KEYS, locks: LOCKS / 10, intervalMs: INTERVAL_MS };
  return [
    judge(
      'sampler',
      'share of the Redis server’s CPU without a duty budget',
      shares,
      null,
      details,
      'at_most',
    ),
    stallOf('1 in 100 keys is a lock', sweeper.costsUs),
  ];
}

function stallOf(name: string, costsUs: readonly number[]): BenchResult {
  const p99Us = quantile(costsUs, 0.99);
  const details = { p99Us, p50Us: median(costsUs), maxUs: Math.max(...costsUs), steps: costsUs.length };
  return judge(
    'sampler',
    `server time of a step, p99 / 1 ms: ${name}`,
    [p99Us / BARS.stallUs],
    1,
    details,
    'at_most',
  );
}

/** The exporter's own sweeps, and what each step of them cost the server. */
function makeSweeper(server: RedisServer) {
  const clock = systemClock();
  const redis = connectSampler({
    address: { kind: 'tcp', host: server.host, port: server.port },
    db: 0,
    user: undefined,
    readPassword: () => undefined,
    tls: undefined,
    clock,
    random: Math.random,
  });
  const costsUs: number[] = [];
  const deployment = metered(redis, costsUs);
  const classify = createResourceClassifier();
  const source = new KeyspaceSource({
    deployment,
    view: new KeyspaceView(classify),
    lockKeys: lockKeys(['lock:']),
    dutyShare: 1,
    limits: { deadlineMs: 60_000, maxKeys: 2 * KEYS },
    clock,
    stopping: () => false,
  });
  const sweep = async () => {
    const outcome = await source.look();
    if (outcome.kind !== 'good' || outcome.truncated) throw new Error(`the sweep was ${outcome.kind}`);
  };
  return { sweep, costsUs, close: () => deployment.close() };
}

function metered(redis: SampleRedis, costsUs: number[]): Deployment {
  const node = createNode('only', redis, loadLockScripts(), systemClock());
  const step: SampleStep = async (request) => {
    const reply = await node.step(request);
    costsUs.push(reply.costUs);
    return reply;
  };
  return singleServer({ ...node, step });
}

async function scanAll(redis: Redis, count: number): Promise<void> {
  let cursor = '0';
  do {
    const [next] = await redis.scanBuffer(cursor, 'MATCH', 'lock:*', 'COUNT', count);
    cursor = String(next);
  } while (cursor !== '0');
}

async function scanExpiries(
  redis: Redis,
  count: number,
  scripts: ReturnType<typeof loadLockScripts>,
): Promise<void> {
  const args = { pattern: 'lock:*', count, withOwners: false, maxValueBytes: 0, prefixes: [] };
  let expiring = 0;
  let pending = scripts.sample(redis, { ...args, cursor: '0' });
  for (let isLast = false; !isLast; ) {
    const { cursor, keys } = await pending;
    isLast = cursor === '0';
    // As the sampler does it: keys are taken in while Redis works on the next step.
    if (!isLast) pending = scripts.sample(redis, { ...args, cursor });
    keys.forEach(({ leftMs }) => {
      if (leftMs !== null) expiring += 1;
    });
  }
  if (expiring < LOCKS) throw new Error(`only ${expiring} locks were read`);
}

async function addOthers(redis: Redis, count: number): Promise<void> {
  await redis.call('DEBUG', 'POPULATE', count, 'other', 16);
}

async function addLocks(redis: Redis, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1000) {
    const pipeline = redis.pipeline();
    for (let each = at; each < at + 1000; each += 1) {
      pipeline.set(`lock:stock:${each}`, randomBytes(16).toString('hex'), 'PX', LEASE_MS);
    }
    await pipeline.exec();
  }
}

async function addHugeValues(redis: Redis): Promise<void> {
  const huge = Buffer.alloc(1_000_000, 'x');
  for (let each = 0; each < 500; each += 1) await redis.set(`lock:huge:${each}`, huge, 'PX', LEASE_MS);
  await addLocks(redis, LOCKS / 10);
}

/** What runs cost the server in CPU time: nearly free of what else the machine does. */
class ServerCpu {
  readonly #redis: Redis;
  readonly #costs = new Map<string, number[]>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async run(name: string, work: () => Promise<void>): Promise<void> {
    const beforeMs = await cpuMs(this.#redis);
    await work();
    const cost = (await cpuMs(this.#redis)) - beforeMs;
    this.#costs.set(name, [...(this.#costs.get(name) ?? []), cost]);
  }

  medianMs(name: string): number {
    return median(this.#costs.get(name) ?? []);
  }
}

/** User and system time of the server so far. */
async function cpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1] ?? Number.NaN);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1000;
}

/** One scrape with redis_exporter's key check for the same prefix; undefined where it is not installed. */
async function timePeer(server: RedisServer): Promise<number | undefined> {
  if (spawnSync('which', [PEER]).status !== 0) return undefined;
  const port = await freePort();
  const args = ['-redis.addr', server.url, '-web.listen-address', `127.0.0.1:${port}`];
  const child = await spawnChild(PEER, {
    args: [...args, '-check-keys', 'db0=lock:*', '-check-keys-batch-size', '1000'],
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 100 && !(await httpGet(`${url}/health`).catch(() => undefined)); tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const startMs = performance.now();
    // Its page takes longer than the helper waits.
    await (await fetch(`${url}/metrics`)).text();
    return performance.now() - startMs;
  } finally {
    await child.kill('SIGKILL');
  }
}
