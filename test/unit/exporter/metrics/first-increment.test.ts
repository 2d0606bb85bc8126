import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../../contract/clock.js';
import type { LockEvent } from '../../../../contract/event.js';
import type { Metrics } from '../../../../exporter/metrics/ports.js';
import { EXAMPLE_EVENTS } from '../../../contract/examples.js';
import { type PrometheusServer, startPrometheus } from '../../../support/prometheus-server.js';
import { waitFor } from '../../../support/wait-for.js';
import { makeMetrics } from './page-reader.js';

/** Three scrapes fit into the hold, so the 0 is seen for sure. */
const HOLD_MS = 3000;
const INCREASE = 'increase(redis_lock_lost_total[5s]) > 0';

/** One exporter as Prometheus sees it; `restart` replaces the process behind the address. */
class Target {
  metrics: Metrics;
  /** Whether it answers scrapes. */
  away = false;
  readonly #holdMs: number;
  readonly #server: Server;

  constructor(holdMs: number) {
    this.#holdMs = holdMs;
    this.metrics = this.#make();
    this.#server = createServer(async (_, response) => {
      if (this.away) {
        response.writeHead(503).end();
        return;
      }
      response.setHeader('content-type', this.metrics.contentType);
      for await (const piece of this.metrics.render()) response.write(piece);
      response.end();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  restart(): void {
    this.metrics = this.#make();
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #make(): Metrics {
    return makeMetrics({ clock: systemClock(), firstIncrementHoldMs: this.#holdMs });
  }
}

const [LOST] = EXAMPLE_EVENTS.lost as [LockEvent];
let prometheus: PrometheusServer | undefined;
let targets: Target[] = [];

afterEach(async () => {
  await prometheus?.stop();
  await Promise.all(targets.map((target) => target.close()));
  targets = [];
});

it('a real Prometheus sees the first loss of a fresh resource, once, and again after a restart, and none when the target only returns; without the hold it sees none', async () => {
  const held = new Target(HOLD_MS);
  const bare = new Target(0);
  targets = [held, bare];
  const jobs = [
    { job_name: 'held', static_configs: [{ targets: [await held.listen()] }] },
    { job_name: 'bare', static_configs: [{ targets: [await bare.listen()] }] },
  ];
  const server = await startPrometheus({
    config: { global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: jobs },
  });
  prometheus = server;
  await waitFor(async () => (await server.query('up == 1')).length === 2, {
    what: 'both exporters to be scraped',
    timeoutMs: 15_000,
  });

  const loseAndSee = async () => {
    for (const { metrics } of targets) metrics.recordEvent(LOST, 'default');
    await waitFor(async () => (await server.query(INCREASE)).length > 0, {
      what: 'an increase of lost_total',
      timeoutMs: 15_000,
      everyMs: 100,
    });
    const seen = await server.query(INCREASE);
    expect(seen.map(({ labels }) => [labels.job, labels.resource, labels.detected_by])).toEqual([
      ['held', 'stock', 'deadline'],
    ]);
    await waitFor(async () => (await server.query(INCREASE)).length === 0, {
      what: 'the increase to be over',
      timeoutMs: 15_000,
      everyMs: 100,
    });
  };

  await loseAndSee();
  for (const target of targets) target.restart();
  await loseAndSee();
  expect(await countRises(server)).toBe(2);

  // Away for longer than the window, and back with the counter as it was.
  for (const target of targets) target.away = true;
  const samples = async () =>
    (await server.query('count_over_time(redis_lock_lost_total{job="held"}[5s])'))[0];
  await waitFor(async () => (await samples()) === undefined, { what: 'the absence', timeoutMs: 20_000 });
  for (const target of targets) target.away = false;
  await waitFor(async () => ((await samples())?.value ?? 0) >= 4, { what: 'the return', timeoutMs: 20_000 });
  expect(await countRises(server)).toBe(2);
}, 90_000);

/** How often the expression became true in the whole life of the server, looked at each half second. */
async function countRises(server: PrometheusServer): Promise<number> {
  const endS = Date.now() / 1000;
  const query = encodeURIComponent('sum(increase(redis_lock_lost_total[5s])) > bool 0');
  const range = `start=${(endS - 90).toFixed(3)}&end=${endS.toFixed(3)}&step=0.5`;
  const { body } = await server.get(`/api/v1/query_range?query=${query}&${range}`);
  const { data } = JSON.parse(body) as { data: { result: { values: [number, string][] }[] } };
  const values = data.result[0]?.values.map(([, value]) => value) ?? [];
  return values.filter((value, index) => value === '1' && values[index - 1] !== '1').length;
}
