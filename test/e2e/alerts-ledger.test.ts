import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockId } from '../../contract/lock-id.js';
import { fenceKey } from '../../lua/fence-key.js';
import { AlertDesk } from '../support/alert-desk.js';
import type { NodeChild } from '../support/holder-process.js';
import { httpGet } from '../support/http.js';
import { type LockSite, startLockSite } from '../support/lock-site.js';
import { type Monitoring, startMonitoring } from '../support/monitoring.js';
import { queryPanels, shippedDashboards, substitute } from '../support/panel-queries.js';
import { SHORT_RUN } from '../support/panel-runner.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { makeTempDir } from '../support/temp-dir.js';
import { waitFor } from '../support/wait-for.js';

/** Every time of rules and routes is a sixtieth of the shipped one, from the same source; limits and floors are the shipped ones. */
const FACTOR = 60;
/** Twice what the factor says, as a scrape on a busy machine may take longer than that. */
const SCRAPE_MS = 500;
const HOLD = `${60 / FACTOR}s`;
const LABELS = { cluster: 'lab', namespace: 'shop' };
/** Long after anything of this proof is due. */
const LATE_MS = 150_000;
const LATE = { timeoutMs: LATE_MS, everyMs: 200 };
/** Longer than the proof: such a lease never ends by itself. */
const LONG_MS = 600_000;
/** A client that holds with this lease is heard of every two seconds. */
const BEAT_MS = 10_000;
const WATCHED = { leaseMs: BEAT_MS, watchdog: true, maxHoldMs: LONG_MS };
/** Its client counts as dead at three fifths of it, which leaves ten seconds for the alert; no hot lock, below 48 s in a minute. */
const ORPHAN_MS = 47_000;
/** Locks that are meant to be held for long. */
const LEADERS = ['throne', 'shelf', 'pulse', 'seat'];

/** All that is told, each line once. */
const TOLD = [
  '/page firing RedisLockLost ledger cart',
  '/page firing RedisLockFenceRegression ledger ship',
  '/ticket firing RedisLockAbandonedTakenOver ledger job',
  '/ticket firing RedisLockZombieRenewal ledger lamp',
  '/ticket resolved RedisLockZombieRenewal ledger lamp',
  '/ticket firing RedisLockOrphanKeys dead report',
  '/ticket resolved RedisLockOrphanKeys dead report',
  '/ticket firing RedisLockUnsureHolders deaf',
  '/ticket resolved RedisLockUnsureHolders deaf',
  '/ticket firing RedisLockHotLockSaturated hot till',
  '/note firing RedisLockHotLockSkew hot shop',
];
/** What fires besides, and is muted. */
const MUTED = ['RedisLockGhostHolder ledger cart', 'RedisLockReleaseNotOwned ledger cart'];

/** One lock as `/api/v1/hot` and the panel show it. */
interface HotLock {
  readonly lock: string;
  readonly resource: string;
  readonly attempts: number;
  readonly contendedRatio: number;
  readonly busyRatio: number;
  readonly headroomRatio: number;
  readonly meanHoldMs: number | null;
}

/** What clients did to each hot lock: attempts, share of them that met a holder, and whether a hold ended. */
const HOT = [
  ['lock:till:1', 4, 0.75, false],
  ['lock:throne:1', 1, 0, false],
  ['lock:shop:0', 150, 0, true],
  ...Array.from({ length: 5 }, (_, n) => [`lock:shop:x${n}`, 1, 0, true] as const),
  ['lock:pair:0', 150, 0, true],
  ['lock:pair:x0', 1, 0, true],
] as const;

/**
 * Redis, exporters, clients, Prometheus and Alertmanager are real, each a process of its own. The faults go on side by side,
 * each with its counterpart: what looks like it and is none. What was told, and what fired at all, is compared whole.
 */
describe('the shipped alerts that rest on the ledger, sixty times as fast', () => {
  const ends: (() => Promise<unknown>)[] = [];
  const site: Record<'ledger' | 'dead' | 'deaf' | 'hot', LockSite> = Object.create(null);
  const redis: Record<keyof typeof site, RedisServer> = Object.create(null);
  let monitoring: Monitoring;
  let desk: AlertDesk;
  /** The client of `hot`, and one of `ledger` that lives all the time and holds a lock with a watchdog. */
  let customer: NodeChild;
  let clerk: NodeChild;

  const tells = (line: string) => {
    expect(TOLD).toContain(line);
    return desk.tells(line, LATE_MS);
  };
  const counted = (where: LockSite, family: string, labels: Record<string, string>, count = 1) =>
    waitFor(async () => (await where.exporter.value(`redis_lock_${family}`, labels)) === count, {
      what: `${family}${JSON.stringify(labels)} of ${where.store} to be ${count}`,
      ...LATE,
    });
  const ask = (expr: string) => monitoring.prometheus.query(expr);
  const labelsOf = (alertname: string, store: string, resource?: string) => ({
    ...LABELS,
    ...{ alertname: `RedisLock${alertname}`, job: 'redis-lock', store },
    ...(resource && { resource }),
  });

  /** Most attempts go to one of six locks, and to one of two. */
  const crowd = async (user: NodeChild) => {
    const brief = { leaseMs: BEAT_MS };
    await user.ask({ op: 'rush', key: 'lock:shop:', lanes: 1, count: 150, ...brief });
    await user.ask({ op: 'cycles', key: 'lock:shop:x', count: 5, pauseMs: 100, ...brief });
    await user.ask({ op: 'rush', key: 'lock:pair:', lanes: 1, count: 150, ...brief });
    await user.ask({ op: 'cycles', key: 'lock:pair:x', count: 1, pauseMs: 100, ...brief });
  };
  /** All within the first minute of the exporter, which is the first window of hot locks. */
  const heat = async () => {
    const user = await site.hot.holder();
    await user.ask({ op: 'acquire', key: 'lock:till:1', leaseMs: LONG_MS });
    await user.ask({ op: 'acquire', key: 'lock:throne:1', leaseMs: LONG_MS });
    for (let tries = 0; tries < 3; tries += 1) {
      const refused = await user.ask({ op: 'acquire', key: 'lock:till:1', leaseMs: LONG_MS });
      expect(refused).toMatchObject({ ok: false });
    }
    await crowd(user);
    return user;
  };

  beforeAll(async () => {
    const dir = makeTempDir('policy');
    ends.push(async () => dir.remove());
    const policy = join(dir.path, 'policy.yaml');
    writeFileSync(policy, `resources:\n${LEADERS.map((name) => `  ${name}: { kind: leader }\n`).join('')}`);
    const start = async (store: keyof typeof site) => {
      const flags = ['--sample-schedule', '* * * * * *', '--first-increment-hold', HOLD, '--config', policy];
      redis[store] = await startRedis();
      ends.push(() => redis[store].stop());
      site[store] = await startLockSite(redis[store], store, flags);
      ends.push(() => site[store].stop());
    };
    await start('hot');
    const heated = heat();
    await Promise.all([heated, start('ledger'), start('dead'), start('deaf')]);
    customer = await heated;
    const sites = Object.values(site);
    const targets = sites.map(({ target }) => target);
    monitoring = await startMonitoring({ targets, labels: LABELS, factor: FACTOR, scrapeMs: SCRAPE_MS });
    ends.push(() => monitoring.stop());
    desk = new AlertDesk(monitoring, sites);
    await monitoring.watching();
    clerk = await site.ledger.holder();
    await clerk.ask({ op: 'acquire', key: 'lock:pulse:1', ...WATCHED });
  }, 180_000);

  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it.concurrent('the panels of hot locks show what was done in the minute', async () => {
    const answer = async () => {
      const { body } = await httpGet(`${site.hot.exporter.localUrl}/api/v1/hot`);
      return JSON.parse(body) as { attempts: number; windowComplete: boolean; locks: HotLock[] };
    };
    await waitFor(async () => (await answer()).windowComplete, { what: 'the first full minute', ...LATE });
    const { locks, attempts } = await answer();
    expect(attempts).toBe(HOT.reduce((sum, [, count]) => sum + count, 0));
    await waitFor(async () => (await ask('redis_lock_hot_attempts{store="hot"}')).length === HOT.length, {
      what: 'the hot locks to be scraped',
      ...LATE,
    });

    const byColumn = await readHotTable((expr) => ask(substitute(expr, SHORT_RUN, { store: 'hot' })));
    for (const [key, count, contended, hasEnded] of HOT) {
      const lock = lockId('hot', key);
      const shown = (column: string) => byColumn[column]?.get(lock);
      const report = locks.find((one) => one.lock === lock);
      expect(shown('Attempts'), key).toBe(count);
      expect(shown('Contended'), key).toBe(contended);
      expect(shown('Busy'), key).toBeCloseTo(report?.busyRatio ?? -1, 3);
      expect(shown('Headroom'), key).toBeCloseTo(report?.headroomRatio ?? -1, 3);
      expect(shown('Mean hold') !== undefined, key).toBe(hasEnded);
      // A timer may be a millisecond early.
      if (/:x\d$/.test(key)) expect(shown('Mean hold'), key).toBeGreaterThan(0.09);
    }
    const till = byColumn.Busy?.get(lockId('hot', 'lock:till:1')) ?? 0;
    expect(till).toBeGreaterThan(0.5);
    const one = async (title: string, choice: Record<string, string>) => {
      const target = capacityPanel(title).targets.find(({ legendFormat }) => /hottest/.test(legendFormat));
      const [sample, ...others] = await ask(substitute(target?.expr ?? '', SHORT_RUN, choice));
      expect(others).toEqual([]);
      return sample?.value;
    };
    expect(await one('Skew', { store: 'hot' })).toBeCloseTo(150 / attempts, 9);
    expect(await one('Wait amplification', { resource: 'till' })).toBeCloseTo(
      1 / (1 - Math.min(till, 0.99)),
      6,
    );
    // The alert on it has another minute.
    await crowd(customer);
  }, 240_000);

  it.concurrent('a dead client whose key lives on is one ticket, over with the key; one that lives, or said goodbye, is none', async () => {
    const { dead } = site;
    const [keeper, victim, leaver] = await Promise.all([dead.holder(), dead.holder(), dead.holder()]);
    // A plain restart of the exporter meanwhile: nobody stays unsure (see below).
    for (let n = 0; n < 6; n += 1)
      await keeper.ask({ op: 'acquire', key: `lock:shelf:${n}`, leaseMs: LONG_MS });
    await keeper.ask({ op: 'acquire', key: 'lock:pulse:1', ...WATCHED });
    await counted(dead, 'holders', {}, 7);
    await dead.exporter.process.stop();
    await dead.restart();
    await counted(dead, 'holders', {}, 7);
    await counted(dead, 'unsure_holders', {}, 0);

    await leaver.ask({ op: 'acquire', key: 'lock:tidy:1', leaseMs: LONG_MS });
    await leaver.ask({ op: 'close' });
    await victim.ask({ op: 'acquire', key: 'lock:report:1', leaseMs: ORPHAN_MS });
    await counted(dead, 'acquire_total', { resource: 'report' });
    await victim.process.kill('SIGKILL');
    await counted(dead, 'orphan_keys', { resource: 'report' });
    const ticket = await tells('/ticket firing RedisLockOrphanKeys dead report');
    expect(ticket.labels).toEqual({
      ...labelsOf('OrphanKeys', 'dead', 'report'),
      ...{ severity: 'warning', page: 'false', signal: 'state', subject: 'expiry' },
    });
    expect(ticket.annotations.description).toBe(
      'Lock resource report in store dead (job redis-lock): 1 keys belong to clients that have fallen silent. Nobody will release them; each blocks its lock until it expires.',
    );
    await tells('/ticket resolved RedisLockOrphanKeys dead report');
    expect(await ask('redis_lock_orphan_keys{store="dead",resource!="report"} > 0')).toEqual([]);
  }, 240_000);

  it.concurrent('clients that never hear of the new exporter are one ticket, over when they do; those that hear of it are none', async () => {
    const { deaf } = site;
    const proxy = await startTcpProxy({
      target: { port: Number(new URL(deaf.exporter.localUrl).port) },
      framing: 'raw',
    });
    ends.push(() => proxy.stop());
    const client = await deaf.holder(`http://127.0.0.1:${proxy.port}`);
    await client.ask({ op: 'cycles', key: 'lock:seat:', count: 1, leaseMs: LONG_MS });
    await counted(deaf, 'release_total', { resource: 'seat' });

    // Its batches pass, the answers do not.
    proxy.holdReplies();
    await deaf.exporter.process.stop();
    await deaf.restart();
    proxy.cutAll();
    client.send({ op: 'traffic', key: 'lock:seat:', lanes: 8, leaseMs: LONG_MS, pauseMs: LONG_MS });
    await counted(deaf, 'unsure_holders', { resource: 'seat' }, 8);
    const ticket = await tells('/ticket firing RedisLockUnsureHolders deaf');
    expect(ticket.labels).toEqual({
      ...labelsOf('UnsureHolders', 'deaf'),
      ...{ severity: 'warning', page: 'false', signal: 'state', subject: 'events' },
    });
    expect(ticket.annotations.description).toBe(
      'Store deaf (job redis-lock): nothing can be said about 100% of the holds: their clients did not send their full list since a restart or a gap.',
    );
    proxy.releaseReplies();
    await tells('/ticket resolved RedisLockUnsureHolders deaf');
    await counted(deaf, 'holders', { resource: 'seat' }, 8);
    await counted(deaf, 'unsure_holders', { resource: 'seat' }, 0);
  }, 240_000);

  it.concurrent('a lock that is renewed after its release is one ticket, over when that ends; a living watchdog and a key that is left are none', async () => {
    const client = redis.ledger.client();
    const letGo = async (key: string) => {
      const { hold } = await clerk.ask({ op: 'acquire', key, leaseMs: BEAT_MS });
      const token = (await client.get(key)) ?? '';
      await clerk.ask({ op: 'release', hold });
      return token;
    };
    const [token, left] = [await letGo('lock:lamp:1'), await letGo('lock:left:1')];
    for (const resource of ['lamp', 'left']) await counted(site.ledger, 'release_total', { resource });
    await client.set('lock:left:1', left, 'PX', LONG_MS);
    let runsOn = true;
    // A loop of another making, which creates the key anew and which no release ends.
    const loop = (async () => {
      for (; runsOn; await sleep(250)) await client.set('lock:lamp:1', token, 'PX', BEAT_MS);
    })();
    const ticket = await tells('/ticket firing RedisLockZombieRenewal ledger lamp').finally(() => {
      runsOn = false;
    });
    await loop;
    expect(ticket.labels).toEqual({
      ...labelsOf('ZombieRenewal', 'ledger', 'lamp'),
      ...{ severity: 'warning', page: 'false', signal: 'state', subject: 'renewal' },
    });
    expect(ticket.annotations.description).toMatch(
      /: about [1-9]\d* renewals within the last minutes for holders that had released the lock or said goodbye: a watchdog runs on/,
    );
    await tells('/ticket resolved RedisLockZombieRenewal ledger lamp');
    expect(await ask('redis_lock_observed_renewals_total{store="ledger",resource="pulse"} > 3')).toHaveLength(
      1,
    );
    expect(await ask('redis_lock_keys{store="ledger",resource="left"} == 1')).toHaveLength(1);
  }, 240_000);

  it.concurrent('a key deleted under its holder is one page before the holder knows, and the ghost is muted; one of a dead client is none', async () => {
    const { ledger } = site;
    const victim = await ledger.holder();
    const { hold, fence } = await clerk.ask({ op: 'acquire', key: 'lock:cart:1', leaseMs: LONG_MS });
    await victim.ask({ op: 'acquire', key: 'lock:grave:1', leaseMs: 20_000 });
    for (const resource of ['cart', 'grave']) await counted(ledger, 'acquire_total', { resource });
    await victim.process.kill('SIGKILL');
    await redis.ledger.client().del('lock:cart:1', 'lock:grave:1');

    const page = await tells('/page firing RedisLockLost ledger cart');
    const muted = await desk.mutes(/RedisLockLost$/, 'RedisLockGhostHolder', 'cart');
    expect(await clerk.ask({ op: 'state', hold })).toMatchObject({ valid: true });
    const told = { subject: 'ownership', signal: 'event' };
    expect(page.labels).toEqual({
      ...labelsOf('Lost', 'ledger', 'cart'),
      ...{ severity: 'critical', page: 'true', ...told },
    });
    expect(muted.labels).toEqual({
      ...labelsOf('GhostHolder', 'ledger', 'cart'),
      ...{ severity: 'warning', page: 'false', ...told },
    });
    expect(muted.annotations).toMatchObject({
      description:
        'Lock resource cart in store ledger (job redis-lock): about 1 holds within 15s were reported as live although Redis holds no such key, or one of another. The client does not know yet: its work goes on unprotected.',
      seen_by: ledger.target,
    });
    const { body } = await httpGet(`${ledger.exporter.localUrl}/api/v1/findings`);
    const { findings } = JSON.parse(body) as { findings: { resource: string }[] };
    expect(findings.filter(({ resource }) => resource === 'cart')).toMatchObject([
      { kind: 'ghost_holder', holder: { fence, app: 'holder' } },
    ]);
    // Its own report of the loss is no second one.
    expect(await clerk.ask({ op: 'release', hold })).toMatchObject({ result: { outcome: 'expired' } });
    await counted(ledger, 'release_not_owned_total', { resource: 'cart' });
    await desk.mutes(/RedisLockLost$/, 'RedisLockReleaseNotOwned', 'cart');
    await counted(ledger, 'lost_total', { resource: 'cart' });
  }, 240_000);

  it.concurrent('a killed holder whose lock goes to another is one ticket and no page; one whom nobody follows, and a clean handover, are none', async () => {
    const { ledger } = site;
    const [victim, leaver] = await Promise.all([ledger.holder(), ledger.holder()]);
    const keys = ['lock:job:1', 'lock:alone:1'];
    for (const key of keys) await victim.ask({ op: 'acquire', key, leaseMs: 3000 });
    await leaver.ask({ op: 'acquire', key: 'lock:shift:1', leaseMs: LONG_MS });
    for (const resource of ['job', 'alone', 'shift']) await counted(ledger, 'acquire_total', { resource });
    const take = (key: string) =>
      clerk.ask({ op: 'acquire', key, leaseMs: LONG_MS, waitMs: LATE_MS }, 2 * LATE_MS);
    const taken = [take('lock:job:1'), take('lock:shift:1')];
    await victim.process.kill('SIGKILL');
    await leaver.ask({ op: 'close' });
    for (const one of taken) {
      const grant = await one;
      expect(grant).toMatchObject({ ok: true });
      await clerk.ask({ op: 'release', hold: grant.hold });
    }

    const ticket = await tells('/ticket firing RedisLockAbandonedTakenOver ledger job');
    expect(ticket.labels).toEqual({
      ...labelsOf('AbandonedTakenOver', 'ledger', 'job'),
      ...{ severity: 'warning', page: 'false', signal: 'event', subject: 'ownership' },
    });
    expect(ticket.annotations).toMatchObject({
      description:
        'Lock resource job in store ledger (job redis-lock): about 1 holders within 15s fell silent beyond the end of their lease, and another holds their lock. Should one of them still work, then two do: an overlap that nobody can prove yet.',
      seen_by: ledger.target,
    });
    await counted(ledger, 'abandoned_total', { resource: 'alone', taken_over: 'false' });
    await counted(ledger, 'abandoned_total', { resource: 'shift' }, 0);
  }, 240_000);

  it.concurrent('a fence counter that is lost while it is ahead of the clock is one page; one that is behind it is none', async () => {
    const client = redis.ledger.client();
    const grant = async (key: string) => {
      const { hold, fence } = await clerk.ask({ op: 'acquire', key, leaseMs: BEAT_MS });
      await clerk.ask({ op: 'release', hold });
      return Number(fence);
    };
    const grantTwice = async (key: string) => {
      const first = await grant(key);
      await client.del(fenceKey(key));
      return (await grant(key)) - first;
    };
    // As after a failover to a server whose clock is an hour behind.
    const [seconds] = await client.time();
    const ahead = `${Number(seconds) + 3600}000000`;
    await client.set(fenceKey('lock:ship:1'), `${ahead} ${ahead}`, 'PX', LONG_MS);
    expect(await grantTwice('lock:ship:1')).toBeLessThan(0);
    expect(await grantTwice('lock:dock:1')).toBeGreaterThan(0);

    const page = await tells('/page firing RedisLockFenceRegression ledger ship');
    expect(page.labels).toEqual({
      ...labelsOf('FenceRegression', 'ledger', 'ship'),
      ...{ severity: 'critical', page: 'true', signal: 'event', subject: 'fencing' },
    });
    expect(page.annotations).toMatchObject({
      description:
        'Lock resource ship in store ledger (job redis-lock): about 1 grants within 15s got a fence that is not above an earlier one. A store that compares fences refuses good writes or takes stale ones until the fence has caught up.',
      seen_by: site.ledger.target,
    });
    await counted(site.ledger, 'acquire_total', { resource: 'dock' }, 2);
    await counted(site.ledger, 'fence_regressions_total', { resource: 'dock' }, 0);
  }, 240_000);

  it('a lock that is always held is one ticket, and one that draws most attempts one note; a leader, and two locks only, are none', async () => {
    const ticket = await tells('/ticket firing RedisLockHotLockSaturated hot till');
    expect(ticket.labels).toEqual({
      ...labelsOf('HotLockSaturated', 'hot', 'till'),
      ...{ severity: 'warning', page: 'false', signal: 'state', subject: 'hot' },
      lock: lockId('hot', 'lock:till:1'),
    });
    const [busy] = await ask('redis_lock_hot_busy_ratio{resource="throne"} > 0.8');
    expect(busy).toBeDefined();
    const note = await tells('/note firing RedisLockHotLockSkew hot shop');
    expect(note.labels).toEqual({
      ...labelsOf('HotLockSkew', 'hot', 'shop'),
      ...{ severity: 'info', page: 'false', signal: 'state', subject: 'hot' },
    });
    expect(note.annotations.description).toContain(
      ': one lock draws 96.77% of the attempts at the hot locks',
    );
  }, 240_000);

  it('nothing else was told, and nothing else fired', async () => {
    expect(desk.told().sort()).toEqual([...TOLD].sort());
    const fired = await ask(
      'group by (alertname, store, instance, resource) (last_over_time(ALERTS{alertstate="firing"}[10m]))',
    );
    const names = fired.map(({ labels: { alertname, store, instance, resource } }) =>
      [alertname, store ?? instance, resource].filter(Boolean).join(' '),
    );
    const due = TOLD.map((line) => line.replace(/^\S+ \S+ /, ''));
    expect(names.sort()).toEqual([...new Set([...due, ...MUTED])].sort());
    // The daily ones are due in an hour.
    const unhealthy = (await monitoring.unhealthyRules()).filter((rule) => !/1[dh]: unknown/.test(rule));
    expect(unhealthy).toEqual([]);
    expect(monitoring.prometheus.complaints()).toEqual([]);
    expect(monitoring.alertmanager.complaints()).toEqual([]);
  });
});

function capacityPanel(title: string) {
  const panel = shippedDashboards()
    .filter(({ uid }) => uid === 'redis-lock-capacity')
    .flatMap(queryPanels)
    .find((one) => one.title === title);
  if (panel === undefined) throw new Error(`no panel "${title}"`);
  return panel;
}

/** The table "Hot locks": by column, the value of each lock. */
async function readHotTable(
  ask: (expr: string) => Promise<{ labels: Record<string, string>; value: number }[]>,
): Promise<Record<string, Map<string, number>>> {
  const { targets, transformations = [] } = capacityPanel('Hot locks');
  const titles = Object.assign(
    {},
    ...transformations.map(({ options }) => (options as { renameByName?: object }).renameByName),
  ) as Record<string, string>;
  const columns = await Promise.all(
    targets.map(async ({ refId, expr }) => {
      const cells = (await ask(expr)).map(({ labels, value }) => [labels.lock ?? '', value] as const);
      return [titles[`Value #${refId}`] ?? refId, new Map(cells)] as const;
    }),
  );
  return Object.fromEntries(columns);
}
