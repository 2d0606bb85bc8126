import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { sumOf } from '../support/exporter-process.js';
import { type ChildHandle, spawnChild } from '../support/processes.js';
import { startPrometheus } from '../support/prometheus-server.js';
import { promtoolCheckMetrics } from '../support/promtool.js';
import { findMarked, RUN_MARK } from '../support/run-mark.js';
import { signalProcess } from '../support/signal-process.js';
import { waitFor } from '../support/wait-for.js';

const START = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));

/** Families that must move within a minute of `npm start`. */
const MOVING = [
  'acquire_total',
  'acquire_failures_total',
  'acquire_wait_seconds_count',
  'hold_seconds_count',
  'hold_lease_ratio_count',
  'release_total',
  'release_not_owned_total',
  'lost_total',
  'overlaps_total',
  'renewals_total',
  'up',
  'keys',
  'keys_without_expiry',
  'sample_timestamp_seconds',
  'exporter_batches_total',
  'exporter_events_total',
  'exporter_producers',
].map((name) => `redis_lock_${name}`);

/** The demo as a user starts it, its processes known by a mark of their own. */
async function startDemo(mark: string): Promise<{ child: ChildHandle; metricsUrl: string }> {
  const env = { [RUN_MARK]: mark, REDIS_URL: undefined, REDIS_LOCK_REDIS_URL: undefined };
  const args = [START, '--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0'];
  const child = await spawnChild(process.execPath, { args, env });
  const line = await child.stdout.next(/^Metrics /, { timeoutMs: 60_000 });
  const url = /http:\S+/.exec(line)?.[0] ?? '';
  return { child, metricsUrl: url.replace(/\/metrics$/, '') };
}

const gone = (mark: string) =>
  waitFor(() => findMarked(mark).length === 0, {
    what: 'all processes of the demo to be gone',
    timeoutMs: 15_000,
  });

describe('npm start', () => {
  const mark = (name: string) => `${process.env[RUN_MARK] ?? 'run'}.${name}-${process.pid}`;
  let child: ChildHandle | undefined;

  afterEach(async () => {
    await child?.stop(15_000);
  });

  it('shows every family moving within a minute, on a page that promtool and a real Prometheus accept', async () => {
    const demo = await startDemo(mark('moving'));
    child = demo.child;
    const page = async () => (await fetch(`${demo.metricsUrl}/metrics`)).text();
    const target = demo.metricsUrl.replace('http://', '');
    const prometheus = await startPrometheus({
      config: {
        global: { scrape_interval: '1s' },
        scrape_configs: [{ job_name: 'redis-lock', static_configs: [{ targets: [target] }] }],
      },
    });
    const still = async () => {
      const text = await page();
      return MOVING.filter((family) => !((sumOf(text, family) ?? 0) > 0));
    };
    await waitFor(async () => (await still()).length === 0 || undefined, {
      what: 'every family to move',
      timeoutMs: 60_000,
      everyMs: 500,
    });
    expect(await promtoolCheckMetrics(await page())).toMatchObject({ ok: true });
    await waitFor(async () => (await prometheus.query('sum(redis_lock_acquire_total)'))[0]?.value, {
      what: 'Prometheus to have a sample',
    });
    expect(await prometheus.targets()).toMatchObject([{ health: 'up', lastError: '' }]);
    expect(prometheus.complaints()).toEqual([]);
    await prometheus.stop();
    await demo.child.stdout.next(
      /^last 5 s: [1-9]\d*\.\d acquires\/s, .* · since the start: \d+ releases found the lock gone, .* \d+ overlaps · now: /,
      { timeoutMs: 60_000 },
    );
    expect(demo.child.stderr.lines).toEqual([]);
  }, 120_000);

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s stops all that it started, with exit code 0',
    async (signal) => {
      const demo = await startDemo(mark(signal));
      child = demo.child;
      // Redis, exporter, four workers, and the one that started them; the last may be between its fork and its exec.
      await waitFor(() => findMarked(mark(signal)).length >= 7, { what: 'seven processes' });
      expect(await demo.child.kill(signal)).toEqual({ code: 0, signal: null });
      expect(demo.child.stdout.text()).toMatch(/^Findings +http:\S+\/api\/v1\/findings$/m);
      expect(demo.child.stdout.lines.at(-1)).toBe('Stopped.');
      await gone(mark(signal));
    },
    60_000,
  );

  it.each(['redis-server', 'worker.js', 'bin.js'])(
    'the crash of a part (%s) stops the rest and is told',
    async (part) => {
      const demo = await startDemo(mark(part));
      child = demo.child;
      const victim = await waitFor(
        () => findMarked(mark(part)).find(({ command }) => command.includes(part)),
        {
          what: `a process of ${part}`,
        },
      );
      signalProcess(victim.pid, 'SIGKILL');
      expect(await demo.child.exited).toEqual({ code: 1, signal: null });
      expect(demo.child.stderr.text()).toContain('ended unexpectedly (SIGKILL)');
      await gone(mark(part));
    },
    60_000,
  );

  it('nothing outlives the start process, even when that is killed with -9', async () => {
    const demo = await startDemo(mark('killed'));
    child = demo.child;
    await demo.child.kill('SIGKILL');
    await gone(mark('killed'));
  }, 60_000);
});
