import { afterEach, describe, expect, it } from 'vitest';
import { lockId, ownerDigest } from '../../contract/lock-id.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { httpGet, httpPost } from '../support/http.js';
import { startPrometheus } from '../support/prometheus-server.js';
import { promtoolCheckMetrics } from '../support/promtool.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(...flags: string[]): Promise<ExporterProcess> {
  const exporter = await startExporterProcess(['--first-increment-hold=0s', '--shutdown-grace=0s', ...flags]);
  undo.push(() => exporter.process.kill('SIGKILL'));
  return exporter;
}

async function redisServer(): Promise<RedisServer> {
  const server = await startRedis();
  undo.push(() => server.stop());
  return server;
}

let lastSeq = 0;
async function post(exporter: ExporterProcess, events: unknown[]) {
  lastSeq += 1;
  const times = { startedAtMs: 1_796_000_000_000, sentAtMs: 1_796_000_001_000, seq: lastSeq };
  const from = { v: 1, producer: 'producer-1', store: 'default', app: 'a', instance: 'i', dropped: {} };
  const answer = await httpPost(`${exporter.localUrl}/v1/events`, { ...from, ...times, events });
  return JSON.parse(answer.body) as { accepted: number };
}

function granted(key: string, resource: string) {
  const lock = { resource, lock: lockId('default', key), owner: ownerDigest(key) };
  const how = { mode: 'try', waitMs: 1, attempts: 1, leaseMs: 60_000, watchdog: false };
  return { kind: 'acquire', outcome: 'acquired', atMs: 1_796_000_000_000, ...lock, ...how };
}

const sampled = (exporter: ExporterProcess, resource: string) =>
  exporter.value('redis_lock_keys', { resource });
const EACH_SECOND = ['--sample-schedule', '* * * * * *'];

// B5: elastic/beats#12874, open-telemetry/opentelemetry-collector-contrib#38135: the URL's database is ignored.
it('only the database of the URL is sampled, also after a reconnect, and with database 0 empty (B5)', async () => {
  const redis = await redisServer();
  await redis.client({ db: 3 }).set('lock:three:1', 'v');
  const zero = redis.client();
  await zero.set('lock:zero:1', 'v');
  const exporter = await start('--redis-url', `redis://127.0.0.1:${redis.port}/3`, ...EACH_SECOND);
  const onlyThree = async () => [await sampled(exporter, 'three'), await sampled(exporter, 'zero')];
  const isSampled = async () => (await sampled(exporter, 'three')) === 1;
  await waitFor(isSampled, { what: 'a sample of database 3' });
  expect(await onlyThree()).toEqual([1, undefined]);
  await zero.flushdb();
  const sample = 'redis_lock_sample_timestamp_seconds';
  const before = (await exporter.value(sample)) ?? 0;
  await zero.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await waitFor(async () => ((await exporter.value(sample)) ?? 0) > before && isSampled(), {
    what: 'a sample after the reconnect',
    timeoutMs: 15_000,
  });
  expect(await onlyThree()).toEqual([1, undefined]);
});

describe('names that need care (B6)', () => {
  const LONG = 'x'.repeat(900);
  /** Of a key only the first 1024 characters are looked at for its resource: these two are of the default one. */
  const ENDLESS = 'z'.repeat(4096);
  const CUT = [LONG, `${LONG}y`, ENDLESS, `${ENDLESS}y`];
  const NAMES = ['a"b', 'a\\b', 'a\nb', 'a\rb', 'ключ', '🔒', '{a="b"} 1', ...CUT];
  /** As the label shows it: control characters become `_`, and a long name is cut with a hash of the whole. */
  const labelOf = (name: string) => name.replace(/[\n\r]/g, '_');

  // B6: cnieg/gitlab-tokens-exporter#221, wg-easy/wg-easy#2699: one quote makes the whole scrape unreadable.
  it('the page parses, each name comes back from Prometheus, and each key from the list', async () => {
    const redis = await redisServer();
    for (const name of NAMES) await redis.client().set(`lock:${name}:1`, 'v', 'PX', 60_000);
    const exporter = await start('--redis-url', redis.url, '--reveal-keys');
    const events = NAMES.filter((name) => !/[\n\r]/.test(name) && name.length <= 64);
    await post(
      exporter,
      events.map((name) => granted(`lock:${name}:1`, name)),
    );
    await waitFor(async () => (await sampled(exporter, labelOf('🔒'))) === 1, { what: 'a sample' });
    expect(await promtoolCheckMetrics(await exporter.metrics())).toEqual({ ok: true, output: '' });

    const target = exporter.metricsUrl.replace('http://', '');
    const job = { job_name: 'locks', static_configs: [{ targets: [target] }], scrape_interval: '1s' };
    const prometheus = await startPrometheus({ config: { scrape_configs: [job] } });
    undo.push(() => prometheus.stop());
    const keysOf = () => prometheus.query('redis_lock_keys');
    const found = await waitFor(
      async () => {
        const samples = await keysOf();
        return samples.length > 0 ? samples : undefined;
      },
      { what: 'a scrape', timeoutMs: 20_000 },
    );
    const resources = found.map(({ labels, value }) => [labels.resource ?? '', value] as const);
    const short = NAMES.filter((name) => name.length <= 64).map(labelOf);
    // The two with a line end and a carriage return look alike in a label; as locks they stay two.
    expect(resources).toEqual(
      expect.arrayContaining([...new Set(short)].map((name) => [name, name === 'a_b' ? 2 : 1])),
    );
    const long = resources.filter(([name]) => name.startsWith('xxx'));
    expect(long.map(([name, value]) => [name.length, value])).toEqual([
      [64, 1],
      [64, 1],
    ]);
    expect(new Set(long.map(([name]) => name)).size).toBe(2);
    expect(resources).toContainEqual(['default', 2]);
    const counted = await prometheus.query('redis_lock_acquire_total{mode="try"}');
    expect(counted.map(({ labels }) => labels.resource).sort()).toEqual([...events].sort());

    const { body } = await httpGet(`${exporter.localUrl}/api/v1/locks`);
    const { locks } = JSON.parse(body) as { locks: { lock: string; key: string }[] };
    expect(locks.map(({ key }) => key).sort()).toEqual(NAMES.map((name) => `lock:${name}:1`).sort());
    expect(new Set(locks.map(({ lock }) => lock)).size).toBe(NAMES.length);
  });
});

// B7: oliver006/redis_exporter#100, prometheus/client_python#532: series of released keys live on.
it('49 of 50 released: their sampled series are gone after one sweep, what events counted stays (B7)', async () => {
  const redis = await redisServer();
  const names = Array.from({ length: 50 }, (_, at) => `lock:r${at}:1`);
  await redis.client().mset(names.flatMap((name) => [name, 'v']));
  const exporter = await start('--redis-url', redis.url, ...EACH_SECOND);
  await post(
    exporter,
    names.map((name, at) => granted(name, `r${at}`)),
  );
  const series = async (family: string) => (await exporter.metrics()).split(`\n${family}{`).length - 1;
  await waitFor(async () => (await series('redis_lock_keys')) === 50, { what: 'all to be sampled' });
  await redis.client().del(...names.slice(1));
  await waitFor(async () => (await series('redis_lock_keys')) === 1, { what: 'the next sweep' });
  for (const family of ['keys_without_expiry', 'oldest_hold_seconds']) {
    expect(await series(`redis_lock_${family}`), family).toBe(1);
  }
  expect(await exporter.value('redis_lock_acquire_total', { mode: 'try' })).toBe(50);
});

// B9: oliver006/redis_exporter#257, #39, #46: down until it is restarted itself.
it('Redis killed and started again: up 0 and 1 again, no sampled value meanwhile, event counters stay (B9)', async () => {
  const redis = await redisServer();
  await redis.client().set('lock:stock:1', 'v');
  const exporter = await start('--redis-url', redis.url, ...EACH_SECOND);
  await post(exporter, [granted('lock:stock:1', 'stock')]);
  const isUp = async () => (await exporter.value('redis_lock_up')) === 1;
  await waitFor(isUp, { what: 'up 1' });
  await redis.kill();
  await waitFor(async () => !(await isUp()), { what: 'up 0' });
  expect([await sampled(exporter, 'stock'), await exporter.value('redis_lock_acquire_total')]).toEqual([
    undefined,
    1,
  ]);
  await redis.restart();
  await redis.client().set('lock:stock:1', 'v');
  await waitFor(async () => (await isUp()) && (await sampled(exporter, 'stock')) === 1, {
    what: 'up 1 again',
  });
  expect([exporter.process.running, await exporter.value('redis_lock_acquire_total')]).toEqual([true, 1]);
});

describe('200,000 different keys (B11)', () => {
  const BATCHES = 200;

  /** Sends 200 batches of 1000 grants, each of a key that no other one has. */
  async function flood(exporter: ExporterProcess, resourceOf: (at: number) => string, turn: number) {
    for (let part = 0; part < BATCHES; part += 1) {
      const events = Array.from({ length: 1000 }, (_, index) => {
        const at = part * 1000 + index;
        return granted(`lock:flood:${turn}:${at}`, resourceOf(at));
      });
      expect((await post(exporter, events)).accepted).toBe(1000);
    }
  }

  // B11: prometheus/client_js#543, wippyai/runtime#426: a label with unbounded values grows without limit.
  it('of one resource: a page of less than 100 kB, and memory that another 200,000 do not raise', async () => {
    const exporter = await start('--sample-mode=off');
    const rss = async () => (await exporter.value('process_resident_memory_bytes')) ?? 0;
    await flood(exporter, () => 'flood', 0);
    const before = await rss();
    await flood(exporter, () => 'flood', 1);
    expect(await exporter.value('redis_lock_acquire_total', { mode: 'try' })).toBe(2 * BATCHES * 1000);
    expect((await exporter.metrics()).length).toBeLessThan(100_000);
    const { body } = await httpGet(`${exporter.localUrl}/api/v1/status`);
    const { ledger } = JSON.parse(body) as { ledger: { holds: number; evicted: { holds: number } } };
    expect(ledger.holds).toBeLessThan(130_000);
    expect(ledger.holds + ledger.evicted.holds).toBe(2 * BATCHES * 1000);
    // How full the heap happens to be is another half; twice as many tracked would be more.
    expect((await rss()) / before).toBeLessThan(1.5);
  }, 120_000);

  it('each its own resource: 200 have series, the sum is right, and no counter of one that has any goes down', async () => {
    const exporter = await start('--sample-mode=off');
    await post(exporter, [granted('lock:hot:1', 'hot')]);
    await flood(exporter, (at) => `r${at}`, 0);
    const acquired = () => exporter.value('redis_lock_acquire_total', { mode: 'try' });
    const hot = () => exporter.value('redis_lock_acquire_total', { resource: 'hot', mode: 'try' });
    expect([await acquired(), await hot()]).toEqual([BATCHES * 1000 + 1, 1]);
    await post(exporter, [granted('lock:hot:1', 'hot')]);
    expect([await acquired(), await hot()]).toEqual([BATCHES * 1000 + 2, 2]);
    const other = { resource: '__other__', mode: 'try' };
    expect(await exporter.value('redis_lock_acquire_total', other)).toBe(BATCHES * 1000 - 199);
    // The budget of docs/operations.md: some 110 series for each of 201 resources, and those of the exporter itself.
    const series = (await exporter.metrics()).split('\n').filter((line) => /^[a-z]/.test(line));
    expect(series.length).toBeLessThan(22_500);
  }, 120_000);
});
