import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { quantile, saturatedQuantile } from '../../dashboards/source/expressions.js';
import { family } from '../../dashboards/source/metrics.js';
import { startDemoProcess } from '../support/demo-process.js';
import { startExporterProcess } from '../support/exporter-process.js';
import {
  type DashboardQuery,
  listQueries,
  listVariableQueries,
  substitute,
} from '../support/panel-queries.js';
import { runQuery, runVariable, SHORT_RUN } from '../support/panel-runner.js';
import { type PrometheusServer, startPrometheus } from '../support/prometheus-server.js';
import { startRedis } from '../support/redis-server.js';
import { RUN_MARK } from '../support/run-mark.js';
import { waitFor } from '../support/wait-for.js';

const RULES = ['recording-rules.yml', 'recording-rules-daily.yml'];
/** Labels of the demo's Prometheus: what a variable must offer. */
const LABELS = { cluster: 'lab', namespace: 'shop' };

const readRules = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../alerts/${name}`, import.meta.url)), 'utf8');

/** A Prometheus that scrapes each second and has the shipped recording rules. */
function scrape(target: string, labels: Record<string, string> = {}): Promise<PrometheusServer> {
  return startPrometheus({
    files: Object.fromEntries(RULES.map((name) => [name, readRules(name)])),
    config: {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: RULES,
      scrape_configs: [{ job_name: 'redis-lock', static_configs: [{ targets: [target], labels }] }],
    },
  });
}

/** Asks each query again until it gives data. */
async function untilAllGive(
  prometheus: PrometheusServer,
  queries: readonly DashboardQuery[],
  timeoutMs: number,
) {
  let waiting = [...queries];
  await waitFor(
    async () => {
      const answers = await Promise.all(waiting.map((query) => runQuery(prometheus, query)));
      waiting = waiting.filter((_, index) => (answers[index]?.values.length ?? 0) === 0);
      return (
        waiting.length === 0 || Promise.reject(new Error(`no data: ${waiting.map(({ where }) => where)}`))
      );
    },
    { what: 'every query to give data', timeoutMs, everyMs: 2000 },
  );
}

describe('every query of every dashboard', () => {
  const ends: (() => Promise<unknown>)[] = [];
  const queries = listQueries();
  const due = (...kinds: DashboardQuery['due'][]) => queries.filter((query) => kinds.includes(query.due));

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it('gives data under load, and is never refused and never NaN', async () => {
    const demo = await startDemoProcess(`${process.env[RUN_MARK] ?? 'run'}.dashboards-${process.pid}`);
    ends.push(() => demo.child.stop(15_000));
    const prometheus = await scrape(demo.target, LABELS);
    ends.push(() => prometheus.stop());
    await untilAllGive(prometheus, due('alive', 'load'), 90_000);

    const answers = await Promise.all(queries.map((query) => runQuery(prometheus, query)));
    expect(answers.filter(({ error }) => error !== '')).toEqual([]);
    expect(answers.filter(({ values }) => values.some(Number.isNaN)).map(({ where }) => where)).toEqual([]);
    for (const query of listVariableQueries()) {
      const values = await runVariable(prometheus, query);
      expect(values, query.where).toContain({ ...LABELS, ...OFFERED, instance: demo.target }[query.label]);
    }
    expect(prometheus.complaints()).toEqual([]);
  }, 180_000);

  it('is empty or 0 when nobody takes locks, and tells that from a Redis that is gone and an exporter that is down', async () => {
    const redis = await startRedis();
    ends.push(() => redis.stop());
    const exporter = await startExporterProcess([
      '--redis-url',
      redis.url,
      '--sample-schedule',
      '* * * * * *',
    ]);
    ends.push(() => exporter.process.stop());
    const prometheus = await scrape(exporter.metricsUrl.replace('http://', ''));
    ends.push(() => prometheus.stop());
    await untilAllGive(prometheus, due('alive'), 30_000);

    const idle = due('load', 'trouble', 'planned', 'minutes', 'days');
    const answers = await Promise.all(queries.map((query) => runQuery(prometheus, query)));
    expect(answers.filter(({ error }) => error !== '')).toEqual([]);
    expect(answers.filter(({ values }) => values.some(Number.isNaN)).map(({ where }) => where)).toEqual([]);
    const quiet = new Set(idle.map(({ where }) => where));
    const busy = answers.filter(
      ({ where, values }) => quiet.has(where) && values.some((value) => value !== 0),
    );
    expect(busy).toEqual([]);

    const last = async (place: string) => {
      const query = queries.find(({ where }) => where === `redis-lock-overview / ${place}`);
      return query && (await runQuery(prometheus, query)).values.at(-1);
    };
    const until = (place: string, value: number) =>
      waitFor(async () => (await last(place)) === value, { what: place, timeoutMs: 20_000, everyMs: 250 });

    expect(await last('Blind spots / B')).toBe(0);
    expect(await last('Redis failovers')).toBeUndefined();
    await redis.kill();
    await until('Blind spots / B', 1);
    await until('Redis failovers', 0);
    expect(await last('Blind spots / A')).toBe(0);
    await exporter.process.kill('SIGKILL');
    await until('Blind spots / A', 1);
  }, 90_000);
});

/** One value that each variable must offer in the demo. */
const OFFERED: Record<string, string> = { job: 'redis-lock', store: 'default', resource: 'stock' };

/** Names that broke dashboards of others (field case D9); "All" is what Grafana calls every value. */
const NAMES = ['{a}/b', "c'd", 'e\\f', 'g.h|i', 'All', 'plain'];

/** A target whose holds all lie beyond the largest bucket, for resources with these names. */
async function startTarget(names: readonly string[]) {
  let scrapes = 0;
  const server = createServer((_, response) => {
    scrapes += 1;
    const lines = names.flatMap((name) => {
      const labels = `store="s",resource="${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
      return [
        `redis_lock_hold_seconds_bucket{${labels},le="60"} 0`,
        `redis_lock_hold_seconds_bucket{${labels},le="1800"} 0`,
        `redis_lock_hold_seconds_bucket{${labels},le="+Inf"} ${scrapes}`,
        `redis_lock_keys{${labels}} 1`,
      ];
    });
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`${lines.join('\n')}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    target: `127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

describe('on a target with odd names and long holds', () => {
  it('each name can be chosen, alone, with others and as All, and a quantile beyond the buckets is marked', async () => {
    const target = await startTarget(NAMES);
    const prometheus = await scrape(target.target);
    try {
      const ask = (expr: string, resource?: string | string[]) =>
        prometheus.query(substitute(expr, SHORT_RUN, resource === undefined ? {} : { resource }));
      const found = async (resource?: string | string[]) =>
        (await ask(family('keys'), resource)).map(({ labels }) => labels.resource ?? '').sort();
      await waitFor(async () => (await ask(quantile(0.99, 'hold_seconds'))).length > 0, {
        what: 'two scrapes',
        timeoutMs: 15_000,
        everyMs: 200,
      });

      for (const name of NAMES) expect(await found(name)).toEqual([name]);
      expect(await found([NAMES[0] ?? '', NAMES[3] ?? ''])).toEqual(['g.h|i', '{a}/b']);
      expect(await found()).toEqual([...NAMES].sort());
      expect(await ask(quantile(0.99, 'hold_seconds'))).toMatchObject([{ value: 1800 }]);
      expect(await ask(saturatedQuantile(0.99, 'hold_seconds'))).toMatchObject([{ value: 1800 }]);
    } finally {
      await prometheus.stop();
      await target.close();
    }
  }, 40_000);
});
