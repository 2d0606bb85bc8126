import { DEFAULT_STORE, type Hold } from '../../contract/batch.js';
import { lockId, ownerDigest } from '../../contract/lock-id.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Poster } from './load.js';
import type { RoundPlan } from './rounds.js';
import { judgeValue, type ValueResult } from './value-result.js';

const LOCKS = 100_000;
const PRODUCERS = 50;
const HOLDS_EACH = LOCKS / PRODUCERS;
/** DESIGN, section 10, in MB. */
const BAR = 150;
const MB = 1_000_000;
const LOOKS_EVERY_MS = 1000;

interface Case {
  readonly name: string;
  readonly reported: boolean;
  readonly sampled: boolean;
  readonly bar: number | null;
}

/** The whole, and its two halves, which tell where the memory is. */
const CASES: readonly Case[] = [
  { name: 'reported and sampled', reported: true, sampled: true, bar: BAR },
  { name: 'reported only', reported: true, sampled: false, bar: null },
  { name: 'sampled only', reported: false, sampled: true, bar: null },
];

/**
 * Resident memory with 100,000 locks held by reporting clients, and as many keys in Redis, with the ids and owners that belong
 * to them: an id that is not the key's is refused before anything is kept of it. Each client reports its holds once, as
 * the contract says, and then that it is alive.
 */
export async function runMemoryBench(plan: Omit<RoundPlan, 'callers'>): Promise<ValueResult[]> {
  const redis = await startRedis();
  try {
    await fillRedis(redis);
    const results = [];
    for (const one of CASES) results.push(await measure(one, redis, plan.rounds));
    return results;
  } finally {
    await redis.stop();
  }
}

async function measure(
  { name, reported, sampled, bar }: Case,
  redis: RedisServer,
  rounds: number,
): Promise<ValueResult> {
  const sampling = sampled
    ? ['--redis-url', redis.url, '--sample-schedule', '*/2 * * * * *', '--sample-duty', '100%']
    : ['--sample-mode', 'off'];
  const exporter = await startExporterProcess(sampling);
  const posters = Array.from(
    { length: reported ? PRODUCERS : 0 },
    (_, index) => new Poster(exporter.localUrl, `${index}`),
  );
  const report = () =>
    eachOf(posters, (poster, index) => poster.post(poster.template([], { holds: holdsOf(index) })));
  const beat = () => eachOf(posters, (poster) => poster.post(poster.template([])));
  try {
    const emptyMb = await rssMb(exporter);
    await report();
    if (sampled) await untilSampled(exporter);
    const figures = [];
    for (let round = 0; round < rounds; round += 1) {
      await beat();
      await new Promise((resolve) => setTimeout(resolve, LOOKS_EVERY_MS));
      figures.push(await rssMb(exporter));
    }
    const what = `${LOCKS} live locks, ${name}`;
    const target = { bench: 'memory', case: what, unit: 'MB RSS', bar, direction: 'at_most' } as const;
    return judgeValue(target, figures, { emptyMb, highestMb: Math.max(...figures) });
  } finally {
    for (const poster of posters) poster.close();
    await exporter.process.kill('SIGKILL');
  }
}

function eachOf(posters: readonly Poster[], post: (poster: Poster, index: number) => Promise<void>) {
  return Promise.all(posters.map(post));
}

async function untilSampled(exporter: ExporterProcess): Promise<void> {
  const all = async () => (await exporter.value('redis_lock_keys')) === LOCKS;
  await waitFor(all, { what: 'a sample of all locks', timeoutMs: 60_000, everyMs: 500 });
}

async function rssMb(exporter: ExporterProcess): Promise<number> {
  return Math.round(((await exporter.value('process_resident_memory_bytes')) ?? Number.NaN) / MB);
}

async function fillRedis(redis: RedisServer): Promise<void> {
  const client = redis.client();
  for (let from = 0; from < LOCKS; from += 1000) {
    const pipeline = client.pipeline();
    for (let index = from; index < from + 1000; index += 1)
      pipeline.set(keyOf(index), tokenOf(index), 'PX', 3_600_000);
    await pipeline.exec();
  }
}

function keyOf(index: number): string {
  return `lock:resource-${index % 20}:${index}`;
}

function tokenOf(index: number): string {
  return `token-${index}`;
}

function holdsOf(producer: number): Hold[] {
  return Array.from({ length: HOLDS_EACH }, (_, at) => {
    const index = producer * HOLDS_EACH + at;
    return {
      lock: lockId(DEFAULT_STORE, keyOf(index)),
      owner: ownerDigest(tokenOf(index)),
      resource: `resource-${index % 20}`,
      fence: 1_796_000_000_000_000 + index,
      grantUs: 1_796_000_000_000_000 + index,
      leaseMs: 3_600_000,
      leftMs: 3_000_000,
      renewals: 0,
      keyBase64: Buffer.from(keyOf(index)).toString('base64'),
    };
  });
}
