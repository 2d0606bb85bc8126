import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { quantile, saturatedQuantile } from '../../dashboards/source/expressions.js';
import type { QueryPanel } from '../../dashboards/source/grafana-types.js';
import { family } from '../../dashboards/source/metrics.js';
import { startDemoProcess } from '../support/demo-process.js';
import { startExporterProcess } from '../support/exporter-process.js';
import { startLockSite } from '../support/lock-site.js';
import {
  type DashboardQuery,
  listQueries,
  listVariableQueries,
  shippedDashboards,
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

    const idle = due('load', 'trouble', 'planned', 'minutes', 'daily', 'weeks');
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

/** Names that broke dashboards of others; "All" is what Grafana calls every value. */
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

// D3: prometheus/prometheus#13020, #12740; scylladb/scylladb#20255: a quantile saturates at the top finite bucket.
// D9: grafana/grafana#59251, #48138, #8639: variables with special characters break queries or show no data.
describe('on a target with odd names and long holds (D3, D9)', () => {
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

// D8: fluxcd/flagger#1161; grafana/loki#22155, #13260; rustyrazorblade/easy-db-lab#908
describe('milliseconds shown as seconds (D8)', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it('a hold of 1.5 s is about 1.5 s, and of a lease of 15 s about a tenth, in each panel that shows it', async () => {
    const redis = await startRedis();
    ends.push(() => redis.stop());
    const site = await startLockSite(redis, 'default', ['--first-increment-hold', '2s']);
    ends.push(() => site.stop());
    const prometheus = await scrape(site.target);
    ends.push(() => prometheus.stop());
    const until = (what: string, holds: () => Promise<boolean>) =>
      waitFor(holds, { what, timeoutMs: 30_000, everyMs: 200 });
    await until('a scrape', async () => (await prometheus.query('up == 1')).length > 0);
    const holder = await site.holder();
    const work = { key: 'lock:stock:', count: 1, leaseMs: 15_000, pauseMs: 1500 };
    expect(await holder.ask({ op: 'cycles', ...work })).toMatchObject({ ok: true });
    await until('panels to show the hold', async () => (await heldFor(prometheus)).length > 3);

    const [sum] = await prometheus.query('redis_lock_hold_seconds_sum');
    expect(sum?.value).toBeGreaterThanOrEqual(1.5);
    expect(sum?.value).toBeLessThan(3);
    for (const { where, unit, value } of await heldFor(prometheus)) {
      const [low, high] = unit === 's' ? [1, 3] : [0.05, 0.25];
      expect(value, where).toBeGreaterThanOrEqual(low);
      expect(value, where).toBeLessThanOrEqual(high);
    }
  }, 60_000);
});

/** The last value of every curve of a quantile or last value of holds, with the unit of its panel. */
async function heldFor(prometheus: PrometheusServer) {
  const panels = shippedDashboards().flatMap(({ uid, panels: all }) =>
    all.filter((panel) => panel.type === 'timeseries').map((panel) => ({ uid, panel: panel as QueryPanel })),
  );
  const asked = panels.flatMap(({ uid, panel }) =>
    panel.targets
      .filter(({ expr }) =>
        /redis_lock_(last_hold_lease_ratio|hold_seconds_bucket|hold_lease_ratio_bucket)/.test(expr),
      )
      .filter(({ expr }) => /last_hold|histogram_quantile/.test(expr))
      .map(({ expr, refId }) => ({
        where: `${uid} / ${panel.title} / ${refId}`,
        unit: panel.fieldConfig.defaults.unit,
        expr,
      })),
  );
  const answers = await Promise.all(
    asked.map(async ({ where, unit, expr }) => {
      const values = await prometheus.query(substitute(expr, SHORT_RUN));
      return values.map(({ value }) => ({ where, unit, value }));
    }),
  );
  return answers.flat().filter(({ value }) => !Number.isNaN(value));
}
