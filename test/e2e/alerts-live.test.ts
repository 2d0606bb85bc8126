import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AlertDesk } from '../support/alert-desk.js';
import type { NodeChild } from '../support/holder-process.js';
import { httpGet } from '../support/http.js';
import { type LockSite, startLockSite } from '../support/lock-site.js';
import { type Monitoring, startMonitoring } from '../support/monitoring.js';
import { listQueries } from '../support/panel-queries.js';
import { runQuery } from '../support/panel-runner.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { makeTempDir } from '../support/temp-dir.js';
import { waitFor } from '../support/wait-for.js';
import type { NotifiedAlert } from '../support/webhook-receiver.js';

/** Every time is a thirtieth of the shipped one, from the same source; limits and floors are the shipped ones. */
const FACTOR = 30;
const HOLD = `${60 / FACTOR}s`;
const LABELS = { cluster: 'lab', namespace: 'shop' };
/** Panels that the live test of the dashboards is too short for. */
const SLOW = ['minutes', 'daily', 'weeks'];
/** Long after anything of this proof is due. */
const LATE = { timeoutMs: 60_000, everyMs: 100 };
/** Eight resources, three locks each. */
const MANY = Array.from({ length: 24 }, (_, n) => `lock:res${n % 8}:${n}`);

/**
 * Redis, exporters, clients, Prometheus and Alertmanager are real, each a process of its own. Faults come one after the
 * other; some are over only while the next ones go on. What was told is compared whole each time: one page for each
 * fault, and nothing else.
 */
describe('the shipped alerts, thirty times as fast', () => {
  const ends: (() => Promise<unknown>)[] = [];
  const redis: Record<'shop' | 'flushed' | 'frozen', RedisServer> = Object.create(null);
  const site: Record<'orders' | 'flushed' | 'frozen' | 'blind' | 'quiet', LockSite> = Object.create(null);
  let proxy: TcpProxy;
  let monitoring: Monitoring;
  let desk: AlertDesk;
  let blindClients: NodeChild[];
  /** What the faults so far lead to, each line once. */
  const due = new Set<string>();

  /** Waits until this was told, and finds that nothing was told twice, or without being due. */
  const tells = async (line: string): Promise<NotifiedAlert> => {
    due.add(line);
    const alert = await desk.tells(line);
    expect(desk.told()).toEqual([...new Set(desk.told())]);
    expect([...due]).toEqual(expect.arrayContaining(desk.told()));
    return alert;
  };
  const firing = async () =>
    (await monitoring.prometheus.query('ALERTS{alertstate="firing"}')).map(({ labels }) => labels.alertname);
  const seen = (expr: string) =>
    waitFor(async () => (await monitoring.prometheus.query(expr)).length > 0, { what: expr, ...LATE });
  /** What happens meanwhile lies between two scrapes: one of them sees all of it. */
  const betweenScrapes = async (happen: () => Promise<unknown>) => {
    await monitoring.prometheus.process.pause();
    await happen();
    await monitoring.prometheus.process.resume();
  };
  const counted = (where: LockSite, family: string, count: number, labels = {}) =>
    waitFor(async () => (await where.exporter.value(`redis_lock_${family}`, labels)) === count, {
      what: `${family} of ${where.store} to be ${count}`,
      ...LATE,
    });

  beforeAll(async () => {
    const dir = makeTempDir('policy');
    ends.push(async () => dir.remove());
    const policy = join(dir.path, 'policy.yaml');
    writeFileSync(policy, 'resources:\n  legacy: { events: none }\n');
    for (const name of ['shop', 'flushed', 'frozen'] as const) {
      redis[name] = await startRedis();
      ends.push(() => redis[name].stop());
    }
    const start = async (store: keyof typeof site, at: RedisServer, ...flags: string[]) => {
      const fast = ['--sample-schedule', '* * * * * *', '--first-increment-hold', HOLD];
      site[store] = await startLockSite(at, store, [...fast, ...flags]);
      ends.push(() => site[store].stop());
    };
    await Promise.all([
      start('orders', redis.shop),
      start('flushed', redis.flushed),
      start('frozen', redis.frozen),
      start('blind', redis.shop, '--key-prefix', 'blind:'),
      start('quiet', redis.shop, '--key-prefix', 'quiet:', '--config', policy),
    ]);
    const targets = Object.values(site).map(({ target }) => target);
    monitoring = await startMonitoring({ targets, labels: LABELS, factor: FACTOR, hour: 2 });
    ends.push(() => monitoring.stop());
    desk = new AlertDesk(monitoring, Object.values(site));
    await monitoring.watching();

    // Their exporter is there, but they do not get to it.
    proxy = await startTcpProxy({
      target: { port: Number(new URL(site.blind.exporter.localUrl).port) },
      framing: 'raw',
    });
    proxy.refuse();
    ends.push(() => proxy.stop());
    const out = `http://127.0.0.1:${proxy.port}`;
    blindClients = await Promise.all([site.blind.holder(out), site.blind.holder(out)]);
    const work = { leaseMs: 20_000, pauseMs: 700, restMs: 100 };
    due.add('/ticket firing RedisLockEventsMissing blind');
    for (const [n, client] of blindClients.entries()) {
      client.send({ op: 'traffic', key: `blind:cart:${n}`, ...work });
      client.send({ op: 'traffic', key: `quiet:legacy:${n}`, ...work });
    }
  });

  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it('an overlap is one page with both its numbers and links; the loss that is part of it is muted', async () => {
    const [late, next] = await Promise.all([site.orders.holder(), site.orders.holder()]);
    const key = 'lock:stock:1';
    await next.ask({ op: 'cycles', key: 'lock:stock:', count: 1, leaseMs: 20_000 });
    await seen('redis_lock_acquire_total{resource="stock"} > 0');

    const { hold, fence } = await late.ask({ op: 'acquire', key, leaseMs: 1500 });
    await late.process.pause();
    const granted = await next.ask({ op: 'acquire', key, leaseMs: 20_000, waitMs: 20_000 }, 30_000);
    expect(granted).toMatchObject({ ok: true });
    await betweenScrapes(async () => {
      const release = late.ask({ op: 'release', hold });
      await late.process.resume();
      expect(await release).toMatchObject({ result: { outcome: 'stolen' } });
      await counted(site.orders, 'overlaps_total', 1, { resource: 'stock' });
    });
    await next.ask({ op: 'release', hold: granted.hold });

    const page = await tells('/page firing RedisLockOverlap orders stock');
    expect(page.labels).toEqual({
      ...LABELS,
      ...{ job: 'redis-lock', store: 'orders', resource: 'stock', alertname: 'RedisLockOverlap' },
      ...{ severity: 'critical', page: 'true', signal: 'event', subject: 'ownership' },
    });
    expect(page.annotations).toEqual({
      summary: 'Two holders of one Redis lock: mutual exclusion was violated',
      description:
        'Lock resource stock in store orders (job redis-lock): about 1 holds within 30s during which another was granted the same lock before the work settled. Treat what both wrote as suspect; ask the exporter for the two holders, their fences and times (runbook, step 1).',
      seen_by: site.orders.target,
      runbook_url: 'https://runbooks.example.com/redis-lock/RedisLockOverlap.md',
      dashboard_url:
        'https://grafana.example.com/d/redis-lock-resource?var-cluster=lab&var-namespace=shop&var-job=redis-lock&var-store=orders&var-resource=stock',
    });
    // The first step of the page's runbook: which two, and when. Thirty times as fast, the page is there before the
    // exporter has told the end of the overlap, which it does two seconds after the settling.
    const finding = await waitFor(
      async () => {
        const { body } = await httpGet(`${site.orders.exporter.localUrl}/api/v1/findings`);
        const { findings } = JSON.parse(body) as {
          findings: { resource: string; lengthMs: number | null }[];
        };
        return findings.find(({ resource, lengthMs }) => resource === 'stock' && lengthMs !== null);
      },
      { what: 'the overlap with its length', ...LATE },
    );
    expect(finding).toMatchObject({
      kind: 'overlap',
      holder: { fence, app: 'holder', instance: expect.any(String) },
      other: { fence: granted.fence, app: 'holder' },
      ...{ suspectFromUs: expect.any(Number), suspectUntilUs: expect.any(Number) },
    });
    await desk.mutes(/Overlap$/, 'RedisLockLost', 'stock');
    await desk.mutes(/Overlap$/, 'RedisLockReleaseNotOwned', 'stock');
  }, 90_000);

  it('the first loss of a resource that nobody has seen before is one page (D1)', async () => {
    const holder = await site.orders.holder();
    const { hold } = await holder.ask({ op: 'acquire', key: 'lock:mail:1', leaseMs: 300 });
    await holder.next('lost');
    await holder.ask({ op: 'release', hold });

    const page = await tells('/page firing RedisLockLost orders mail');
    expect(page.labels).toMatchObject({ severity: 'critical', page: 'true', subject: 'ownership' });
    expect(page.annotations).toMatchObject({
      description:
        'Lock resource mail in store orders (job redis-lock): about 1 holds within 30s lost their lease, or their key, while the work went on. Nobody is known to have entered meanwhile; what was written after the loss is not protected.',
      seen_by: site.orders.target,
    });
    await desk.mutes(/RedisLockLost$/, 'RedisLockReleaseNotOwned', 'mail');
  }, 90_000);

  it('a flush while 24 locks of eight resources are held is one page; each resource is muted', async () => {
    const holders = await Promise.all([site.flushed.holder(), site.flushed.holder()]);
    const holds = await Promise.all(
      MANY.map((key, n) => holders[n % 2]?.ask({ op: 'acquire', key, leaseMs: 3000, watchdog: true })),
    );
    await seen('sum(redis_lock_acquire_total{store="flushed"}) == 24');
    await betweenScrapes(async () => {
      await redis.flushed.client().flushall();
      await counted(site.flushed, 'lost_total', 24);
    });

    const page = await tells('/page firing RedisLockMassLost flushed');
    expect(page.labels).toEqual({
      ...LABELS,
      ...{ job: 'redis-lock', store: 'flushed', alertname: 'RedisLockMassLost' },
      ...{ severity: 'critical', page: 'true', signal: 'event', subject: 'ownership' },
    });
    expect(page.annotations.description).toBe(
      'Store flushed (job redis-lock): 8 resources lost locks within 10s. Look at Redis first: a failover, FLUSHALL, eviction or a clock jump; the single losses are muted.',
    );
    for (const [n] of MANY.entries()) await holders[n % 2]?.ask({ op: 'release', hold: holds[n]?.hold });
    for (const n of Array(8).keys()) await desk.mutes(/MassLost$/, 'RedisLockLost', `res${n}`);
  }, 90_000);

  it('clients that do not reach their exporter are one ticket; a resource about which nobody reports is none', async () => {
    const ticket = await tells('/ticket firing RedisLockEventsMissing blind');
    expect(ticket.labels).toMatchObject({ severity: 'warning', page: 'false', subject: 'events' });
    expect(ticket.annotations.description).toMatch(
      /^Store blind \(job redis-lock\): locks went from holder to holder \(about \d+ times in the busiest resource within 30s\), and not one acquire was reported\. /,
    );
    await seen('increase(redis_lock_observed_handovers_total{store="quiet"}[30s]) > 3');
    expect(await monitoring.prometheus.query('ALERTS{store="quiet"}')).toEqual([]);

    await proxy.accept();
    await tells('/ticket resolved RedisLockEventsMissing blind');
    for (const client of blindClients) await client.ask({ op: 'halt' });
  }, 90_000);

  it('a frozen Redis is one page with its reason; the callers that fail meanwhile are muted', async () => {
    const client = await site.frozen.holder();
    const calls = { leaseMs: 20_000, waitMs: 200, pauseMs: 5, restMs: 200 };
    client.send({ op: 'traffic', key: 'lock:pay:', lanes: 8, ...calls });
    await seen('sum(redis_lock_acquire_total{store="frozen"}) > 20');
    await redis.frozen.pause();

    const page = await tells('/page firing RedisLockRedisDown frozen');
    expect(page.labels).toMatchObject({ severity: 'critical', page: 'true', signal: 'state' });
    expect(page.annotations.description).toMatch(
      /^Store frozen \(job redis-lock\): no sample succeeded for 8s or longer \([a-z_]+(, [a-z_]+)*\): callers very likely get no locks/,
    );
    await desk.mutes(/Redis(Was)?Down$/, 'RedisLockAcquireFailing', 'pay');
    await redis.frozen.resume();
    await tells('/page resolved RedisLockRedisDown frozen');
    await desk.mutes(/RedisWasDown$/, 'RedisLockAcquireFailing', 'pay');
  }, 90_000);

  it('a killed exporter is one ticket, over when it is back', async () => {
    await site.quiet.exporter.process.kill('SIGKILL');
    const ticket = await tells('/ticket firing RedisLockExporterDown quiet');
    expect(ticket.labels).toEqual({
      ...LABELS,
      ...{ job: 'redis-lock', instance: site.quiet.target, alertname: 'RedisLockExporterDown' },
      ...{ severity: 'warning', page: 'false', signal: 'state', subject: 'exporter' },
    });
    expect(ticket.annotations.description).toBe(
      `Exporter ${site.quiet.target} (job redis-lock): Prometheus has not reached it for 14s or longer. The locks of its clients are not watched; the clients themselves go on.`,
    );
    await site.quiet.restart();
    await tells('/ticket resolved RedisLockExporterDown quiet');
  }, 90_000);

  it('what dashboards show after minutes, days and weeks, or in trouble, has data: hot locks, daily figures, growth, marks', async () => {
    // A week that is a quarter of a minute long; the daily rules take two seconds for an hour.
    const slow = listQueries()
      .filter(({ due: when, kind }) => SLOW.includes(when) || (kind === 'annotation' && when === 'trouble'))
      .map((query) => ({ ...query, expr: query.expr.replaceAll('7d', '15s') }));
    for (const when of SLOW) expect(slow.map(({ due }) => due)).toContain(when);
    let waiting = slow;
    await waitFor(
      async () => {
        const answers = await Promise.all(waiting.map((query) => runQuery(monitoring.prometheus, query)));
        expect(answers.filter(({ error }) => error !== '')).toEqual([]);
        waiting = waiting.filter((_, n) => !answers[n]?.values.some((value) => value >= 0));
        return (
          waiting.length === 0 || Promise.reject(new Error(`no data: ${waiting.map(({ where }) => where)}`))
        );
      },
      { what: 'every query to give data', timeoutMs: 90_000, everyMs: 1000 },
    );
    expect(
      await monitoring.prometheus.query('resource:redis_lock_acquire:increase1d{resource="pay"} > 0'),
    ).toHaveLength(1);
  }, 120_000);

  it('when all is over nothing comes up as news, every rule was evaluated, nobody complained', async () => {
    let left: unknown[] = [];
    await waitFor(
      async () => {
        left = await firing();
        return left.length === 0;
      },
      { what: 'all alerts to end', timeoutMs: 120_000, everyMs: 500 },
    ).catch((error) => {
      throw new Error(`${error}; still firing: ${left}`);
    });
    await waitFor(async () => (await monitoring.alertmanager.alerts()).length === 0, {
      what: 'Alertmanager to forget them',
      ...LATE,
    });
    expect(desk.told().sort()).toEqual([...due].sort());
    expect(await monitoring.unhealthyRules()).toEqual([]);
    expect(monitoring.prometheus.complaints()).toEqual([]);
    expect(monitoring.alertmanager.complaints()).toEqual([]);
  }, 180_000);
});
