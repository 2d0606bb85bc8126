import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../contract/clock.js';
import { lockId, ownerDigest } from '../../contract/lock-id.js';
import { createLog } from '../../exporter/cli/log.js';
import { type ConfigSources, loadConfig } from '../../exporter/config/load-config.js';
import { type RunningExporter, startExporter } from '../../exporter/main.js';
import { scheduleFault } from '../../exporter/sampler/cron-schedule.js';
import { sumOf } from '../support/exporter-process.js';
import { httpGet, httpPost } from '../support/http.js';
import { spawnChild } from '../support/processes.js';
import { startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

const undo: (() => unknown)[] = [];

interface Started {
  exporter: RunningExporter;
  log: string[];
  page(): Promise<string>;
  json(path: string): Promise<Record<string, unknown>>;
}

async function start(argv: readonly string[], sources: Partial<ConfigSources> = {}): Promise<Started> {
  const listen = ['--metrics-listen=127.0.0.1:0', '--local-listen=127.0.0.1:0', '--shutdown-grace=0s'];
  const readFile = sources.readFile ?? (() => '');
  const reading = loadConfig({ argv: [...listen, ...argv], env: {}, scheduleFault, ...sources, readFile });
  if (!reading.ok) throw new Error(reading.faults.join('\n'));
  const clock = systemClock();
  const lines: string[] = [];
  const log = createLog('debug', (line) => lines.push(line), clock);
  const around = { clock, random: Math.random, log, version: '1.2.3', readFile, processMetrics: false };
  const exporter = await startExporter(reading.config.settings, around);
  undo.push(() => exporter.stop());
  const page = async () => (await httpGet(`${exporter.metricsAddress}/metrics`)).body;
  const json = async (path: string) => JSON.parse((await httpGet(`${exporter.localAddress}${path}`)).body);
  return { exporter, log: lines, page, json };
}

async function redis(options: Parameters<typeof startRedis>[0] = {}) {
  const server = await startRedis(options);
  undo.push(() => server.stop());
  return server;
}

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const isUp = (started: Started) =>
  waitFor(async () => (await started.page()).includes('redis_lock_up{store="default",reason="ok"} 1'), {
    what: 'a good sample',
  });

function batch(events: unknown[], fields: object = {}) {
  const producer = { v: 1, producer: 'producer-1', startedAtMs: Date.now(), seq: 1, sentAtMs: Date.now() };
  return { ...producer, store: 'default', app: 'a', instance: 'i', dropped: {}, events, ...fields };
}

function acquired(resource: string) {
  const lock = lockId('default', `lock:${resource}:1`);
  const facts = { mode: 'try', waitMs: 1, attempts: 1, leaseMs: 1000, watchdog: false };
  return {
    kind: 'acquire',
    outcome: 'acquired',
    atMs: Date.now(),
    resource,
    lock,
    owner: ownerDigest('x'),
    ...facts,
  };
}

describe('sampling', () => {
  it('locks of any library show on the page, in the status and in the list, by id and not by key', async () => {
    const server = await redis();
    await server.client().set('lock:stock:1', 'secret-token', 'PX', 60_000, 'NX');
    const started = await start(['--redis-url', server.url]);
    await isUp(started);
    const page = await started.page();
    expect(sumOf(page, 'redis_lock_keys', { resource: 'stock' })).toBe(1);
    expect(await started.json('/api/v1/status')).toMatchObject({
      store: 'default',
      version: '1.2.3',
      sampler: { mode: 'sweep', status: 'ok', last: { keys: 1, truncated: false } },
      producers: 0,
      listeners: { metrics: started.exporter.metricsAddress, local: started.exporter.localAddress },
    });
    const locks = await started.json('/api/v1/locks');
    expect(locks).toMatchObject({
      sample: 'ok',
      matching: 1,
      locks: [{ lock: lockId('default', 'lock:stock:1'), resource: 'stock', type: 'string' }],
    });
    for (const text of [page, JSON.stringify(locks), started.log.join('')]) {
      expect(text).not.toMatch(/lock:stock:1|secret-token/);
    }
  });

  it('--reveal-keys shows keys in the list, and nowhere else', async () => {
    const server = await redis();
    const binary = Buffer.from([...Buffer.from('lock:b:'), 0xff]);
    await server.client().mset('lock:stock:1', 'v', binary, 'v');
    const started = await start(['--redis-url', server.url, '--reveal-keys']);
    await isUp(started);
    const { locks } = await started.json('/api/v1/locks?resource=stock');
    expect(locks).toMatchObject([{ key: 'lock:stock:1', leftMs: null }]);
    expect((await started.json('/api/v1/locks?resource=b')).locks).toMatchObject([
      { keyBase64: binary.toString('base64') },
    ]);
    expect(await started.page()).not.toContain('lock:stock:1');
  });

  it('a dead Redis costs no event: the page stays, up is 0, the list says why', async () => {
    const server = await redis();
    await server.client().set('lock:stock:1', 'v');
    const started = await start(['--redis-url', server.url, '--sample-schedule', '* * * * * *']);
    await isUp(started);
    const url = `${started.exporter.localAddress}/v1/events`;
    expect((await httpPost(url, batch([acquired('stock')]))).status).toBe(200);
    await server.kill();
    const up0 = 'redis_lock_up{store="default",reason="connection"} 0';
    await waitFor(async () => (await started.page()).includes(up0), { what: 'up to be 0' });
    const page = await started.page();
    expect(page).not.toMatch(/^redis_lock_keys\{/m);
    expect(page).toContain('redis_lock_acquire_total{');
    expect(await started.json('/api/v1/locks')).toMatchObject({
      sample: 'failed',
      reason: 'connection',
      locks: [],
    });
    await server.restart();
    await isUp(started);
  });

  it('--sample-mode off never connects, and claims nothing of Redis', async () => {
    const started = await start(['--sample-mode', 'off', '--redis-url', 'redis://127.0.0.1:1']);
    expect(await started.page()).not.toMatch(/^redis_lock_up/m);
    expect(await started.json('/api/v1/locks')).toMatchObject({ sample: 'off', locks: [] });
    expect(await started.json('/api/v1/status')).toMatchObject({ sampler: { mode: 'off' } });
  });
});

describe('passwords with special characters (B10)', () => {
  const SECRET = 'p@ss:w/o#r%d,"$}';
  const encoded = encodeURIComponent(SECRET);

  it.each([
    ['in the URL', (port: number) => [[`--redis-url=redis://:${encoded}@127.0.0.1:${port}`], {}] as const],
    [
      'in a variable',
      (port: number) =>
        [[`--redis-url=redis://127.0.0.1:${port}`], { env: { REDIS_LOCK_REDIS_PASSWORD: SECRET } }] as const,
    ],
    [
      'in a file',
      (port: number) =>
        [
          [`--redis-url=redis://127.0.0.1:${port}`, '--redis-password-file=pw'],
          { readFile: () => `${SECRET}\n` },
        ] as const,
    ],
  ])('%s: it connects, and the secret shows nowhere', async (_where, given) => {
    const server = await redis({ password: SECRET });
    const [argv, sources] = given(server.port);
    const started = await start(argv, sources);
    await isUp(started);
    const status = JSON.stringify(await started.json('/api/v1/status'));
    for (const text of [await started.page(), status, started.log.join('')]) {
      for (const secret of [SECRET, encoded, 'p@ss']) expect(text).not.toContain(secret);
    }
  });

  it('a wrong one is said as no_auth, and shows nowhere', async () => {
    const server = await redis({ password: SECRET });
    const started = await start([`--redis-url=redis://:wrong-canary@127.0.0.1:${server.port}`]);
    const up0 = 'redis_lock_up{store="default",reason="no_auth"} 0';
    await waitFor(async () => (await started.page()).includes(up0), { what: 'no_auth' });
    expect(started.log.join('') + (await started.page())).not.toContain('wrong-canary');
  });
});

describe('events', () => {
  it('are counted once, by a tally that the status shows', async () => {
    const started = await start(['--sample-mode', 'off', '--first-increment-hold', '0s']);
    const url = `${started.exporter.localAddress}/v1/events`;
    const body = batch([acquired('stock'), { kind: 'nonsense' }]);
    for (let sent = 0; sent < 2; sent += 1) expect((await httpPost(url, body)).status).toBe(200);
    expect((await httpPost(url, 'no json')).status).toBe(400);
    expect(await started.json('/api/v1/status')).toMatchObject({
      producers: 1,
      ingest: {
        batches: { accepted: 1, duplicate: 1, bad_json: 1 },
        events: { received: 4, accepted: 1, rejected: 1, duplicate: 2 },
      },
    });
    expect(sumOf(await started.page(), 'redis_lock_acquire_total', { resource: 'stock', mode: 'try' })).toBe(
      1,
    );
  });

  it('names of the prototype leave every object of the process as it was (C10)', async () => {
    const started = await start(['--sample-mode', 'off', '--first-increment-hold', '0s']);
    const url = `${started.exporter.localAddress}/v1/events`;
    const odd = JSON.stringify(batch([acquired('__proto__')])).replace('{', '{"__proto__":{"polluted":1},');
    expect((await httpPost(url, odd)).status).toBe(200);
    expect((await httpPost(url, '{"constructor":{"prototype":{"polluted":1}}}')).status).toBe(400);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(await started.page()).toContain('resource="__proto__"');
  });

  it('the token of the file is asked for', async () => {
    const started = await start(['--sample-mode=off', '--token-file=t'], { readFile: () => 'one\ntwo\n' });
    const url = `${started.exporter.localAddress}/api/v1/status`;
    expect((await httpGet(url)).status).toBe(401);
    expect((await httpGet(url, { headers: { authorization: 'Bearer two' } })).status).toBe(200);
  });
});

describe('life', () => {
  it('two exporters in one process know nothing of each other (C3)', async () => {
    const one = await start(['--sample-mode=off', '--store=default', '--first-increment-hold=0s']);
    const two = await start(['--sample-mode=off', '--store=default', '--first-increment-hold=0s']);
    await httpPost(`${one.exporter.localAddress}/v1/events`, batch([acquired('stock')]));
    expect(await one.page()).toContain('resource="stock"');
    expect(await two.page()).not.toContain('resource="stock"');
    await one.exporter.stop();
    expect(await two.page()).toContain('redis_lock_exporter_build_info');
  });

  // C3: prometheus/client_js#196, #334: a metric registered twice, by a second instance or a second copy of the module.
  it('two copies of the client in a CommonJS application leave its own metrics as they are (C3)', async () => {
    const server = await redis();
    const main = fileURLToPath(new URL('../support/two-copies-main.cjs', import.meta.url));
    const child = await spawnChild(process.execPath, { args: [main], env: { REDIS_URL: server.url } });
    expect([(await child.exited).code, child.stderr.text()]).toEqual([0, '']);
    expect(JSON.parse(child.stdout.text())).toEqual({
      results: ['done', 'done', 'done', 'done'],
      copies: true,
      isUntouched: true,
    });
  });

  it('during the grace it takes events and serves metrics; after it, nobody listens', async () => {
    const { exporter } = await start(['--sample-mode=off', '--shutdown-grace=400ms']);
    const url = `${exporter.localAddress}/v1/events`;
    const stopped = exporter.stop();
    expect((await httpPost(url, batch([acquired('stock')]))).status).toBe(200);
    expect((await httpGet(`${exporter.metricsAddress}/metrics`)).status).toBe(200);
    const { localAddress, metricsAddress } = exporter;
    await stopped;
    await expect(httpGet(`${metricsAddress}/metrics`)).rejects.toThrow();
    await expect(httpGet(`${localAddress}/api/v1/status`)).rejects.toThrow();
  });

  it('a port in use is listen_failed, names the address, and leaves nothing running', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    undo.push(() => new Promise((resolve) => other.close(resolve)));
    const address = other.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const attempt = start(['--sample-mode=off', `--local-listen=127.0.0.1:${port}`]);
    await expect(attempt).rejects.toMatchObject({
      id: 'listen_failed',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });
});
