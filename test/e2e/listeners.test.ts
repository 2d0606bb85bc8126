import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpEmitter, createLockConnection, LockClient } from '../../client/index.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { freePort } from '../support/free-port.js';
import { spawnNode } from '../support/holder-process.js';
import { httpGet, httpPost, httpSend } from '../support/http.js';
import { spawnChild } from '../support/processes.js';
import { startRedis } from '../support/redis-server.js';
import { makeTempDir } from '../support/temp-dir.js';
import { waitFor, within } from '../support/wait-for.js';

const BIN = fileURLToPath(new URL('../../dist/exporter/cli/bin.js', import.meta.url));
const HOLDER = fileURLToPath(new URL('../support/holder-main.mjs', import.meta.url));
const HELD = { lock: '0123456789abcdef', owner: 'fedcba9876543210' };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(...flags: string[]): Promise<ExporterProcess> {
  const exporter = await startExporterProcess([
    '--sample-mode=off',
    '--first-increment-hold=0s',
    '--shutdown-grace=0s',
    ...flags,
  ]);
  undo.push(() => exporter.process.kill('SIGKILL'));
  return exporter;
}

function folder(): string {
  const dir = makeTempDir('listeners');
  undo.push(() => dir.remove());
  return dir.path;
}

let lastSeq = 0;
function batch(events: unknown[], fields: object = {}) {
  lastSeq += 1;
  const times = { startedAtMs: 1_796_000_000_000, sentAtMs: 1_796_000_001_000 };
  const from = { v: 1, producer: 'producer-1', store: 'default', app: 'a', instance: 'i', dropped: {} };
  return { ...from, ...times, seq: lastSeq, events, ...fields };
}

function release(fields: object = {}) {
  const facts = { holdMs: 5, leaseMs: 1000, renewals: 0, peakUse: 0.5, lost: false, loopDelayMs: 0 };
  const what = { kind: 'release', outcome: 'released', atMs: 1_796_000_000_000, resource: 'stock' };
  return { ...what, ...HELD, ...facts, ...fields };
}

async function post(exporter: ExporterProcess, body: object | string | Buffer, options = {}) {
  const { status, body: text } = await httpPost(`${exporter.localUrl}/v1/events`, body, options);
  return { status, ...JSON.parse(text) };
}

const batches = (exporter: ExporterProcess, result: string) =>
  exporter.value('redis_lock_exporter_batches_total', { result });

describe('what cannot be counted costs only itself, and never the process', () => {
  // C1: sagemathinc/cocalc#5142, vllm-project/vllm#10430: a negative increment throws in the metrics library.
  it('a negative number of renewals (C1)', async () => {
    const exporter = await start();
    const answer = await post(exporter, batch([release(), release({ renewals: -3 }), release()]));
    expect(answer).toMatchObject({ status: 200, accepted: 2, rejected: [{ index: 1, path: 'renewals' }] });
    expect(await exporter.value('redis_lock_release_total')).toBe(2);
    expect(
      await exporter.value('redis_lock_exporter_events_rejected_total', { reason: 'out_of_range' }),
    ).toBe(1);
  });

  // C2: XanderD99/strapi-prometheus#28, prometheus/client_js#150: a histogram is handed what is no number.
  it.each([[undefined], [null], ['191']])('a hold time of %s (C2)', async (holdMs) => {
    const exporter = await start();
    const answer = await post(exporter, batch([release({ holdMs }), release()]));
    expect(answer).toMatchObject({ status: 200, accepted: 1, rejected: [{ index: 0, path: 'holdMs' }] });
    expect(await exporter.value('redis_lock_hold_seconds_count')).toBe(1);
    // Of a hold whose start nobody reported: the release counts all the same, the refused one does not.
    expect(await exporter.value('redis_lock_release_total')).toBe(1);
  });

  // C10: prometheus/client_js#814, flatiron/prompt#231: names that every object has by its prototype.
  it('resources called __proto__ and constructor are ordinary names (C10)', async () => {
    const exporter = await start();
    const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];
    const events = names.flatMap((resource) => [release({ resource }), release({ resource })]);
    expect(await post(exporter, batch(events))).toMatchObject({ accepted: 8 });
    for (const resource of names) {
      expect(await exporter.value('redis_lock_release_total', { resource })).toBe(2);
    }
    const polluting = '{"__proto__":{"polluted":1}}';
    expect(await post(exporter, polluting)).toMatchObject({ status: 400 });
  });

  it('so are they as producer, app, drop reason and field (C10)', async () => {
    const exporter = await start();
    for (const name of ['__proto__', 'constructor']) {
      const own = (value: unknown) => JSON.parse(`{"${name}":${JSON.stringify(value)}}`) as object;
      const fields = { producer: `${name}-1`, app: name, instance: name };
      const odd = { ...release(), ...own({ polluted: 1 }) };
      const first = batch([odd], { ...fields, seq: 5, dropped: own(3) });
      expect(await post(exporter, first)).toMatchObject({ status: 200, accepted: 1, rejected: [] });
      const second = batch([], { ...fields, seq: 6, dropped: own(5) });
      expect(await post(exporter, second)).toMatchObject({ status: 200 });
    }
    expect(await exporter.value('redis_lock_release_total')).toBe(2);
    // The check of the envelope leaves out the one name that no object can have by itself; `constructor` is counted.
    const other = { reason: 'other' };
    expect(await exporter.value('redis_lock_exporter_producer_dropped_total', other)).toBe(2);
    expect(await exporter.value('redis_lock_exporter_producers')).toBe(2);
  });

  // E5: prometheus/prometheus#2530, #13272: samples with times of their own are refused or taken for the future.
  it('times that are a day off, in seconds, or text: counted now or refused, and no sample has a time (E5)', async () => {
    const exporter = await start();
    const now = Date.now();
    const times = [now + 86_400_000, now - 86_400_000, Math.floor(now / 1000), '2026-01-01', undefined];
    const answer = await post(exporter, batch(times.map((atMs) => release({ atMs }))));
    expect(answer).toMatchObject({ accepted: 2 });
    expect(answer.rejected.map(({ index }: { index: number }) => index)).toEqual([2, 3, 4]);
    const samples = (await exporter.metrics()).split('\n').filter((line) => /^[a-z]/.test(line));
    expect(samples.filter((line) => !/^[^ {]+(\{.*\})? \S+$/.test(line))).toEqual([]);
    expect(samples.filter((line) => / -\d/.test(line))).toEqual([]);
  });
});

describe('/metrics', () => {
  // C6: prometheus/prometheus#15485, saikatharryc/pm2-prometheus-exporter#101: Prometheus 3 refuses another type.
  it.each(['text/plain;version=0.0.4', 'application/openmetrics-text;version=1.0.0', '*/*', 'text/html'])(
    'has the content type of what it sends, whoever asks for %s (C6)',
    async (accept) => {
      const exporter = await start();
      const headers = { accept, 'accept-encoding': 'gzip' };
      for (const method of ['GET', 'HEAD']) {
        const first = await httpSend(method, `${exporter.metricsUrl}/metrics`, undefined, { headers });
        expect([first.status, first.headers['content-type']]).toEqual([
          200,
          'text/plain; version=0.0.4; charset=utf-8',
        ]);
        const again = { ...headers, 'if-none-match': first.headers.etag ?? '*' };
        const second = await httpSend(method, `${exporter.metricsUrl}/metrics`, undefined, {
          headers: again,
        });
        expect(second.status).toBe(200);
      }
    },
  );
});

describe('a unix socket (C7)', () => {
  // C7: theanarkh/nodejs-ipc#1, neovim/neovim#37378: the file that a crash leaves blocks the restart.
  it('left behind by an exporter killed with -9 is taken over, and is for owner and group only', async () => {
    const path = join(folder(), 'locks.sock');
    const first = await start('--local-listen', `unix:${path}`);
    await first.process.kill('SIGKILL');
    expect(existsSync(path)).toBe(true);
    await start('--local-listen', `unix:${path}`);
    const answer = await httpPost('http://locks/v1/events', batch([release()]), { unixSocket: path });
    expect(JSON.parse(answer.body)).toMatchObject({ accepted: 1 });
    expect((statSync(path).mode & 0o777).toString(8)).toBe('660');
  });

  it('is gone after the end in order', async () => {
    const path = join(folder(), 'locks.sock');
    const exporter = await start('--local-listen', `unix:${path}`);
    expect(await exporter.process.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(existsSync(path)).toBe(false);
  });

  it('where it cannot be made: one clear line, and no file is touched', async () => {
    const dir = folder();
    const file = join(dir, 'data');
    writeFileSync(file, 'precious');
    const lineOf = async (path: string) => {
      const args = [BIN, '--sample-mode=off', '--metrics-listen=127.0.0.1:0', `--local-listen=unix:${path}`];
      const child = await spawnChild(process.execPath, { args });
      expect((await child.exited).code).toBeGreaterThan(0);
      return child.stderr.text().trim();
    };
    expect(await lineOf(file)).toMatch(/^redis-lock-exporter: .*not a socket\..*$/);
    expect(await lineOf(join(dir, 'none', 's'))).toMatch(/there is no folder/);
    expect(await lineOf(`/${'x'.repeat(120)}`)).toMatch(/more than 107 bytes/);
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  it('that is served is not taken away from its exporter', async () => {
    const path = join(folder(), 'locks.sock');
    const first = await start('--local-listen', `unix:${path}`);
    await expect(start('--local-listen', `unix:${path}`)).rejects.toThrow('another process listens there');
    expect((await httpGet('http://x/api/v1/status', { unixSocket: path })).status).toBe(200);
    expect(first.process.running).toBe(true);
  });
});

describe('addresses meet (C8)', () => {
  // C8: nodejs/node#40537, #40702: localhost is ::1 for one side and 127.0.0.1 for the other.
  it.each([
    ['127.0.0.1', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', 'localhost'],
    ['[::1]', '[::1]'],
  ])('exporter on %s, client to %s, also without family selection', async (listen, host) => {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    const exporter = await start('--local-listen', `${listen}:0`);
    const { port } = new URL(exporter.localUrl);
    const child = await spawnNode(HOLDER, {
      nodeArgs: ['--no-network-family-autoselection'],
      env: { HOLDER_REDIS_URL: redis.url, HOLDER_INGEST_URL: `http://${host}:${port}` },
    });
    undo.push(() => child.process.kill('SIGKILL'));
    await child.next('ready');
    await child.ask({ op: 'cycles', key: 'lock:a:', count: 1, leaseMs: 1000 });
    await waitFor(async () => (await exporter.value('redis_lock_release_total')) === 1, {
      what: 'the events to arrive',
    });
  });
});

describe('beyond loopback, with a token (C8)', () => {
  it.each(['localhost', '127.0.0.1', '[::1]'])(
    'an exporter on [::] is met by a client to %s',
    async (host) => {
      const redis = await startRedis();
      undo.push(() => redis.stop());
      const file = join(folder(), 'tokens');
      writeFileSync(file, 'secret\n');
      const exporter = await start('--local-listen', '[::]:0', '--token-file', file);
      const { port } = new URL(exporter.localUrl);
      const emitter = createHttpEmitter({ url: `http://${host}:${port}`, app: 'a', token: 'secret' });
      const connection = createLockConnection({ url: redis.url });
      const client = new LockClient({ redis: connection, store: 'default', emitter });
      await client.withLock('lock:a:1', { leaseMs: 1000 }, async () => {});
      await client.close();
      connection.disconnect();
      expect(await exporter.value('redis_lock_release_total')).toBe(1);
    },
  );
});

describe('who may come in', () => {
  // C12: juice-shop/juice-shop#1275: open to the network by default, and to pages of others.
  it('by default ingest listens on loopback only (C12)', async () => {
    const metrics = await freePort();
    const args = [BIN, '--sample-mode=off', `--metrics-listen=0.0.0.0:${metrics}`, '--print-config'];
    const child = await spawnChild(process.execPath, { args });
    await child.exited;
    expect(child.stdout.text()).toContain('local-listen: "127.0.0.1:9723" # default');
  });

  it.each([
    ['a foreign Host', { host: 'evil.example' }, 403, 'forbidden'],
    ['a foreign Origin', { origin: 'http://evil.example' }, 403, 'forbidden'],
    ['an Origin that is hidden', { origin: 'null' }, 403, 'forbidden'],
    ['a form’s content type', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
  ])('%s is refused and counted (C12)', async (_, headers, status, id) => {
    const exporter = await start();
    const answer = await post(exporter, batch([release()]), { headers });
    expect(answer).toMatchObject({ status, error: { id } });
    expect(await batches(exporter, id)).toBe(1);
    expect(await exporter.value('redis_lock_exporter_events_received_total')).toBe(0);
  });

  it('two tokens at once; a changed file is read while it runs, and a token that is gone opens no more', async () => {
    const file = join(folder(), 'tokens');
    writeFileSync(file, 'old-token\nnew-token\n');
    chmodSync(file, 0o600);
    const exporter = await start('--token-file', file);
    const as = (token: string) =>
      post(exporter, batch([release()]), { headers: { authorization: `Bearer ${token}` } });
    expect([(await as('old-token')).status, (await as('new-token')).status]).toEqual([200, 200]);
    expect((await post(exporter, batch([]))).status).toBe(401);
    writeFileSync(file, 'new-token\n');
    await waitFor(async () => (await as('old-token')).status === 401, {
      what: 'the old token to be refused',
    });
    expect((await as('new-token')).status).toBe(200);
    expect(await batches(exporter, 'unauthorized')).toBeGreaterThanOrEqual(2);
    expect(exporter.process.stdout.text()).not.toMatch(/old-token|new-token/);
  });

  it('a request to the API without a token is counted by the listener', async () => {
    const file = join(folder(), 'tokens');
    writeFileSync(file, 'token\n');
    const exporter = await start('--token-file', file);
    expect((await httpGet(`${exporter.localUrl}/api/v1/status`)).status).toBe(401);
    const refused = { listener: 'local', reason: 'unauthorized' };
    expect(await exporter.value('redis_lock_exporter_requests_refused_total', refused)).toBe(1);
  });
});

describe('limits, each with its counter', () => {
  // C9: expressjs/body-parser#454, typicode/json-server#37: a small body that inflates to gigabytes.
  it('a hundred bodies of 50 MB in 50 KB at once: refused, memory stays, another’s batch is taken (C9)', async () => {
    const exporter = await start();
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    const rss = () => exporter.value('process_resident_memory_bytes');
    await post(exporter, bomb, { headers: { 'content-encoding': 'gzip' } });
    const before = (await rss()) ?? 0;
    const flood = Array.from({ length: 100 }, () =>
      post(exporter, bomb, { headers: { 'content-encoding': 'gzip' } }),
    );
    const other = waitFor(async () => (await post(exporter, batch([release()]))).status === 200, {
      what: 'another’s batch to be taken',
    });
    const ids = (await Promise.all(flood)).map(({ error }) => error.id);
    await other;
    expect(ids.filter((id) => id !== 'too_large' && id !== 'overloaded')).toEqual([]);
    expect(await batches(exporter, 'too_large')).toBeGreaterThan(1);
    expect(((await rss()) ?? 0) - before).toBeLessThan(150_000_000);
  });

  it.each([
    ['a body of 5 MB (C9)', () => batch([release({ resource: 'x'.repeat(5_000_000) })]), 413, 'too_large'],
    ['1001 events', () => batch(Array(1001).fill(release())), 400, 'bad_envelope'],
    ['2001 holds', () => batch([], { holds: Array(2001).fill({}) }), 400, 'bad_envelope'],
    ['a name of 65 characters for the app', () => batch([], { app: 'x'.repeat(65) }), 400, 'bad_envelope'],
    ['no JSON', () => 'events', 400, 'bad_json'],
    ['another store', () => batch([], { store: 'other' }), 400, 'wrong_store'],
  ])('%s', async (_, body, status, id) => {
    const exporter = await start();
    expect(await post(exporter, body())).toMatchObject({ status, error: { id } });
    expect(await batches(exporter, id)).toBe(1);
  });

  it('a body in chunks without an end: refused in JSON, and the connection closed (C9)', async () => {
    const exporter = await start();
    const { port } = new URL(exporter.localUrl);
    const head =
      'POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const socket = await openWith(Number(port), head);
    let answer = '';
    socket.on('data', (bytes: Buffer) => {
      answer += bytes.toString();
    });
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const pour = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
    await within(
      new Promise((resolve) => socket.once('close', resolve)),
      10_000,
      'the connection to be closed',
    );
    expect(answer).toMatch(/^HTTP\/1.1 413 [\s\S]*"id":"too_large"/);
    expect(await batches(exporter, 'too_large')).toBe(1);
    expect(await post(exporter, batch([release()]))).toMatchObject({ accepted: 1 });
  });

  it('a request that does not come to its end is told so in time, and counted', async () => {
    const exporter = await start();
    const { port } = new URL(exporter.localUrl);
    const socket = await openWith(Number(port), 'POST /v1/events HTTP/1.1\r\nHost: localhost\r\n');
    let answer = '';
    socket.on('data', (bytes: Buffer) => {
      answer += bytes.toString();
    });
    await within(
      new Promise((resolve) => socket.once('close', resolve)),
      30_000,
      'the connection to be closed',
    );
    expect(answer).toMatch(/^HTTP\/1.1 408 [\s\S]*"id":"request_timeout"/);
    const refused = { listener: 'local', reason: 'request_timeout' };
    expect(await exporter.value('redis_lock_exporter_requests_refused_total', refused)).toBe(1);
  }, 40_000);

  it('a label of 65 characters costs the event', async () => {
    const exporter = await start();
    expect(await post(exporter, batch([release({ resource: 'x'.repeat(65) })]))).toMatchObject({
      accepted: 0,
      rejected: [{ path: 'resource' }],
    });
    const rejected = { reason: 'out_of_range' };
    expect(await exporter.value('redis_lock_exporter_events_rejected_total', rejected)).toBe(1);
  });

  it('65 batches at a time: the last is told to come back, and counted', async () => {
    const exporter = await start();
    const { port } = new URL(exporter.localUrl);
    const head =
      'POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';
    const slow = await Promise.all(Array.from({ length: 64 }, () => openWith(Number(port), head)));
    undo.push(() => {
      for (const socket of slow) socket.destroy();
    });
    const refused = await waitFor(
      async () => {
        const answer = await httpPost(`${exporter.localUrl}/v1/events`, batch([release()]));
        return answer.status === 503 ? answer : undefined;
      },
      { what: 'all places to be taken' },
    );
    expect(refused.headers['retry-after']).toBe('1');
    expect(JSON.parse(refused.body)).toMatchObject({ error: { id: 'overloaded' } });
    expect(await batches(exporter, 'overloaded')).toBeGreaterThanOrEqual(1);
  });
});

async function openWith(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  await within(new Promise((resolve) => socket.write(text, resolve)), 5000, 'a connection');
  return socket;
}
