import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type ExporterProcess, startExporterProcess, sumOf } from '../support/exporter-process.js';
import { httpGet, httpPost } from '../support/http.js';
import { spawnChild } from '../support/processes.js';
import { startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

const BIN = fileURLToPath(new URL('../../dist/exporter/cli/bin.js', import.meta.url));

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(...flags: string[]): Promise<ExporterProcess> {
  const exporter = await startExporterProcess(flags);
  undo.push(() => exporter.process.kill('SIGKILL'));
  return exporter;
}

function batch(seq: number) {
  const times = { startedAtMs: 1_796_000_000_000, sentAtMs: 1_796_000_001_000 };
  const from = { v: 1, producer: 'producer-1', store: 'default', app: 'a', instance: 'i', dropped: {} };
  return { ...from, ...times, seq, events: [] };
}

describe('the end in order', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'on %s: batches and scrapes during the grace, then 503 to come back later, then nobody, and status 0',
    async (signal) => {
      const exporter = await start('--sample-mode=off', '--shutdown-grace=700ms');
      const post = (seq: number) => httpPost(`${exporter.localUrl}/v1/events`, batch(seq));
      const ended = exporter.process.kill(signal);
      await exporter.process.stdout.next(/"msg":"stopping"/, { what: 'the signal to be heard' });
      expect((await post(1)).status).toBe(200);
      expect((await httpGet(`${exporter.metricsUrl}/-/ready`)).status).toBe(200);

      let seq = 1;
      const refused = await waitFor(
        async () => {
          seq += 1;
          const answer = await post(seq);
          return answer.status === 503 ? answer : undefined;
        },
        { what: 'the refusal after the grace' },
      );
      expect(refused.headers['retry-after']).toBe('1');
      expect(JSON.parse(refused.body)).toMatchObject({ error: { id: 'shutting_down' } });
      expect((await httpGet(`${exporter.metricsUrl}/-/ready`)).status).toBe(503);
      const page = (await httpGet(`${exporter.metricsUrl}/metrics`)).body;
      expect(page).toMatch(/batches_total\{result="shutting_down"\} [1-9]/);

      expect(await ended).toEqual({ code: 0, signal: null });
      await expect(post(99)).rejects.toThrow('ECONNREFUSED');
    },
  );

  it('a grace of 0 ends at once', async () => {
    const exporter = await start('--sample-mode=off', '--shutdown-grace=0s');
    expect(await exporter.process.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('a second signal, later than one press of Ctrl-C takes, ends at once with status 1', async () => {
    const exporter = await start('--sample-mode=off', '--shutdown-grace=5m');
    const ended = exporter.process.kill('SIGINT');
    await exporter.process.stdout.next(/"msg":"stopping"/, { what: 'the first signal' });
    const again = setInterval(() => void exporter.process.kill('SIGINT'), 200);
    undo.push(() => clearInterval(again));
    expect(await ended).toEqual({ code: 1, signal: null });
  });
});

describe('a Redis that stands still (C5)', () => {
  // C5: element-hq/synapse#20214, prometheus/node_exporter#514: one hanging collector hangs the whole page.
  it('the page answers with what events brought and says up 0, and recovers by itself', async () => {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    const often = ['--sample-schedule=* * * * * *', '--first-increment-hold=0s'];
    const exporter = await start('--redis-url', redis.url, ...often);
    const up = (value: number) =>
      waitFor(async () => (await exporter.value('redis_lock_up')) === value, {
        what: `up ${value}`,
        timeoutMs: 15_000,
      });
    await up(1);
    await httpPost(`${exporter.localUrl}/v1/events`, batch(1));
    await redis.pause();
    await up(0);
    const page = await httpGet(`${exporter.metricsUrl}/metrics`, { timeoutMs: 1000 });
    expect(page.status).toBe(200);
    expect(page.body).toContain('redis_lock_exporter_batches_total{result="accepted"} 1');
    // Each look meets a command that is not answered, also while the silent connection is given up for a new one.
    const family = 'redis_lock_sample_errors_total';
    const reason = { reason: 'command_timeout' };
    await waitFor(async () => ((await exporter.value(family, reason)) ?? 0) >= 4, {
      what: 'more looks',
      timeoutMs: 30_000,
    });
    const later = await exporter.metrics();
    expect(sumOf(later, family)).toBe(sumOf(later, family, reason));
    expect(page.body).toContain('redis_lock_up{store="default",reason="command_timeout"} 0');
    await redis.resume();
    await up(1);
  }, 60_000);
});

describe('what is wrong is said at the start', () => {
  it('every fault in one go, in words, with status 2', async () => {
    const args = [BIN, 'foo', '--sample-schedule', '61 * * * *', '--stor=x'];
    const child = await spawnChild(process.execPath, { args });
    expect((await child.exited).code).toBe(2);
    const lines = child.stderr.text();
    expect(lines).toContain('"foo" belongs to no flag');
    expect(lines).toContain('"61" is no minute (0 to 59)');
    expect(lines).toContain('--stor is not an option (did you mean --store?)');
  });
});

describe('a Redis that cannot be used', () => {
  const warning = async (exporter: ExporterProcess) =>
    JSON.parse(await exporter.process.stdout.next(/"level":"warn"/, { what: 'the warning' }));

  it('away: the log names the address and the error', async () => {
    const redis = await startRedis();
    const { port } = redis;
    await redis.stop();
    const exporter = await start('--redis-url', `redis://user:s3cret@127.0.0.1:${port}/2`);
    expect(await warning(exporter)).toMatchObject({
      reason: 'connection',
      redis: `127.0.0.1:${port}`,
      error: `connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    expect(exporter.process.stdout.text()).not.toMatch(/s3cret|user:/);
  });

  it('that lets its user see one prefix of two: the log names the keys, not only the commands', async () => {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    await redis.client().acl('SETUSER', 'exporter', 'on', '>pw', '+@all', '~lock:*');
    await redis.client().set('job:1', 'owner', 'PX', 60_000);
    const prefixes = ['--key-prefix', 'lock:', '--key-prefix', 'job:', '--sample-schedule', '* * * * * *'];
    const exporter = await start('--redis-url', `redis://exporter:pw@127.0.0.1:${redis.port}`, ...prefixes);
    expect(await warning(exporter)).toMatchObject({
      reason: 'no_permission',
      hint: expect.stringContaining('~lock:* ~job:*'),
    });
  });

  it.each([
    ['no password', ''],
    ['a wrong password', 'default:wr0ng@'],
  ])('that wants a password and gets %s: the log says which option has it', async (_, login) => {
    const redis = await startRedis({ password: 'r1ght' });
    undo.push(() => redis.stop());
    const exporter = await start('--redis-url', `redis://${login}127.0.0.1:${redis.port}`);
    expect(await warning(exporter)).toMatchObject({
      reason: 'no_auth',
      redis: `127.0.0.1:${redis.port}`,
      hint: expect.stringContaining('--redis-password-file'),
    });
    expect(exporter.process.stdout.text()).not.toMatch(/wr0ng|r1ght/);
  });
});
