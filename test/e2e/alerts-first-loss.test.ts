import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeChild } from '../support/holder-process.js';
import { type LockSite, startLockSite } from '../support/lock-site.js';
import { type Monitoring, startMonitoring } from '../support/monitoring.js';
import { startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

/** Every time is a sixtieth of the shipped one: an event is seen for 15 s, and a loss kept for another 20. */
const FACTOR = 60;
const LATE = { timeoutMs: 60_000, everyMs: 100 };
/** The shipped interval of scrapes, in ms. */
const SCRAPE_MS = 15_000;
/** The bar: lost to told, in scrape intervals, for a resource whose series exist. */
const BAR = 2;

/**
 * Field case D1 with the real exporter: increase() misses the first event, because the series is born at 1
 * (prometheus/prometheus#1673, #13570; JiRaska/open-bank-oss#4396; aptible/supercronic#83; prometheus/client_js#63).
 */
describe('a lost lock, counted by the real exporter', () => {
  const ends: (() => Promise<unknown>)[] = [];
  let site: LockSite;
  let probe: LockSite;
  let fast: Monitoring;
  let shipped: Monitoring;

  beforeAll(async () => {
    const [one, other] = await Promise.all([startRedis(), startRedis()]);
    ends.push(() => Promise.all([one.stop(), other.stop()]));
    const hold = ['--first-increment-hold', `${60 / FACTOR}s`];
    site = await startLockSite(one, 'orders', [...hold, '--sample-schedule', '* * * * * *']);
    ends.push(() => site.stop());
    probe = await startLockSite(other, 'probe', hold);
    ends.push(() => probe.stop());
    fast = await startMonitoring({ targets: [site.target], factor: FACTOR });
    ends.push(() => fast.stop());
    shipped = await startMonitoring({ targets: [probe.target], factor: 1 });
    ends.push(() => shipped.stop());
    await fast.watching();
  });

  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** A hold beyond its lease. Resolves with the moment the client knew, by the wall clock. */
  const lose = async (holder: NodeChild, resource: string) => {
    const { hold } = await holder.ask({ op: 'acquire', key: `lock:${resource}:1`, leaseMs: 300 });
    await holder.next('lost');
    const atMs = Date.now();
    await holder.ask({ op: 'release', hold });
    return atMs;
  };
  /** Losses of the resource that were told so far. */
  const pages = (monitoring: Monitoring, resource: string) =>
    monitoring.webhook.notifications.filter(
      ({ path, alerts }) => path === '/page' && alerts.some(({ labels }) => labels.resource === resource),
    );
  const pagesAre = (resource: string, count: number) =>
    waitFor(() => pages(fast, resource).length === count, { what: `${count} pages of ${resource}`, ...LATE });
  const over = (resource: string) =>
    waitFor(async () => (await fast.prometheus.query(`ALERTS{resource="${resource}"}`)).length === 0, {
      what: `the alerts of ${resource} to end`,
      ...LATE,
    });
  const value = async (resource: string) =>
    (await fast.prometheus.query(`sum(redis_lock_lost_total{resource="${resource}"})`))[0]?.value;

  it.concurrent('D1 "increase() misses the first event": one page for the first, none when the target returns or restarts, one for the first after it', async () => {
    const holder = await site.holder();
    await lose(holder, 'mail');
    await pagesAre('mail', 1);
    // Another resource goes on losing, so that Alertmanager always has something that fires in this store.
    const restless = await site.holder();
    let restlessOnes = true;
    const goOn = (async () => {
      for (; restlessOnes; ) await lose(restless, 'restless');
    })();
    ends.push(async () => {
      restlessOnes = false;
      await goOn.catch(() => {});
    });
    await over('mail');

    // The target vanishes and returns with its old count.
    await site.exporter.process.pause();
    await waitFor(async () => (await value('mail')) === undefined, { what: 'its series to go', ...LATE });
    await site.exporter.process.resume();
    await waitFor(async () => (await value('mail')) === 1, { what: 'its old count to return', ...LATE });

    // It restarts and counts from 0.
    await site.exporter.process.stop();
    await site.restart();
    await holder.ask({ op: 'cycles', key: 'lock:mail:', count: 1, leaseMs: 20_000 });
    await waitFor(async () => (await value('mail')) === 0, { what: 'it to begin at 0', ...LATE });
    expect(await fast.prometheus.query('ALERTS{resource="mail"}')).toEqual([]);
    expect(pages(fast, 'mail')).toHaveLength(1);

    await lose(holder, 'mail');
    await pagesAre('mail', 2);
    expect(await value('mail')).toBe(1);
    await over('mail');
    expect(pages(fast, 'mail')).toHaveLength(2);
    restlessOnes = false;
    await goOn;
  }, 180_000);

  it.concurrent('is told within two scrape intervals by the shipped files as they are, once its series exist', async () => {
    const holder = await probe.holder();
    await holder.ask({ op: 'cycles', key: 'lock:stock:', count: 1, leaseMs: 20_000 });
    await waitFor(
      async () =>
        (await shipped.prometheus.query('redis_lock_acquire_total{resource="stock"} > 0')).length > 0,
      { what: 'the series to exist', ...LATE },
    );
    const lostAt = await lose(holder, 'stock');
    const told = await waitFor(() => pages(shipped, 'stock')[0], { what: 'the page', ...LATE });
    expect(told.alerts.map(({ labels }) => labels.alertname)).toEqual(['RedisLockLost']);
    expect((told.atMs - lostAt) / SCRAPE_MS).toBeLessThanOrEqual(BAR);
  }, 180_000);
});
