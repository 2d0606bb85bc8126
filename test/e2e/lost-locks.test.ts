import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { type NodeChild, spawnNode } from '../support/holder-process.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

const HOLDER = fileURLToPath(new URL('../support/holder-main.mjs', import.meta.url));
const LEASE_MS = 400;

function redisUs([seconds, micros]: readonly (string | number)[]): number {
  return Number(seconds) * 1_000_000 + Number(micros);
}

/** Three holders as processes of their own, one exporter, one Redis: every number is right to the unit. */
describe('three processes that lose their locks in three ways', () => {
  let redis: RedisServer;
  let admin: ReturnType<RedisServer['client']>;
  let exporter: ExporterProcess;

  const holder = async (): Promise<NodeChild> => {
    const env = { HOLDER_REDIS_URL: redis.url, HOLDER_INGEST_URL: exporter.localUrl };
    const child = await spawnNode(HOLDER, { env });
    await child.next('ready');
    return child;
  };
  const acquire = (child: NodeChild, key: string, options: object = {}) =>
    child.ask({ op: 'acquire', key, leaseMs: LEASE_MS, ...options });
  const value = (family: string, labels: Record<string, string> = {}) =>
    exporter.value(`redis_lock_${family}`, labels);
  /** All events of a resource have arrived once its releases have: they are the last of each hold. */
  const released = (resource: string, count: number) =>
    waitFor(async () => (await value('release_total', { resource })) === count, {
      what: `${count} releases of ${resource}`,
    });

  /** Waits until this much time has passed on Redis's clock since a grant, whose fence is its time in µs. */
  const workFor = (us: number, grantUs: number) =>
    waitFor(async () => redisUs(await admin.time()) - grantUs > us, {
      what: 'the work to go on',
      everyMs: 50,
    });

  beforeAll(async () => {
    redis = await startRedis();
    admin = redis.client();
    exporter = await startExporterProcess([
      '--redis-url',
      redis.url,
      '--first-increment-hold',
      '0s',
      '--sample-schedule',
      '* * * * * *',
    ]);
  });

  afterAll(async () => {
    await exporter?.process.stop();
    await redis?.stop();
  });

  it('a holder killed with -9 is no loss: nothing was written after its lease, and the next one gets the lock', async () => {
    const [a, b] = await Promise.all([holder(), holder()]);
    await acquire(a, 'lock:killed:1');
    await waitFor(async () => (await value('acquire_total', { resource: 'killed' })) === 1, {
      what: 'the grant to arrive',
    });
    await a.process.kill('SIGKILL');
    const next = await acquire(b, 'lock:killed:1', { waitMs: 5000, leaseMs: 20_000 });
    expect(next).toMatchObject({ ok: true });
    expect(await b.ask({ op: 'release', hold: next.hold })).toMatchObject({
      result: { outcome: 'released' },
    });
    await released('killed', 1);
    expect(await value('acquire_total', { resource: 'killed' })).toBe(2);
    expect(await value('lost_total', { resource: 'killed' })).toBe(0);
    expect(await value('release_not_owned_total', { resource: 'killed' })).toBe(0);
    expect(await value('overlaps_total', { resource: 'killed' })).toBe(0);
    await b.process.stop();
  });

  it('a hold beyond its lease with nobody waiting is one loss, one release that found the lock gone, no overlap', async () => {
    const a = await holder();
    const { hold } = await acquire(a, 'lock:alone:1');
    await a.next('lost');
    expect(await a.ask({ op: 'state', hold })).toMatchObject({ valid: false });
    // The client's deadline is before the server's: wait until Redis has let go, too.
    await waitFor(async () => (await admin.exists('lock:alone:1')) === 0, {
      what: 'the lease to end in Redis',
    });
    expect(await a.ask({ op: 'release', hold })).toMatchObject({ result: { outcome: 'expired' } });
    expect(await a.ask({ op: 'release', hold })).toMatchObject({ result: { outcome: 'expired' } });
    await released('alone', 1);
    expect(await value('lost_total', { resource: 'alone' })).toBe(1);
    expect(await value('lost_total', { resource: 'alone', detected_by: 'deadline' })).toBe(1);
    expect(await value('release_not_owned_total', { resource: 'alone', cause: 'expired' })).toBe(1);
    expect(await value('release_not_owned_total', { resource: 'alone', cause: 'stolen' })).toBe(0);
    expect(await value('overlaps_total', { resource: 'alone' })).toBe(0);
    await a.process.stop();
  });

  it.each([
    ['still', 'stolen'],
    ['no longer', 'expired'],
  ])(
    'a hold beyond its lease, overlapped by another that %s holds, is one loss and one overlap (%s)',
    async (when, cause) => {
      const resource = `overlapped-${cause}`;
      const key = `lock:${resource}:1`;
      const [a, b] = await Promise.all([holder(), holder()]);
      const first = await acquire(a, key);
      const second = await acquire(b, key, { waitMs: 5000, leaseMs: 20_000 });
      expect(second).toMatchObject({ ok: true });
      expect(Number(second.fence)).toBeGreaterThan(Number(first.fence));
      await workFor(1_000_000, Number(second.fence));
      if (when === 'no longer')
        expect(await b.ask({ op: 'release', hold: second.hold })).toMatchObject({
          result: { outcome: 'released' },
        });
      expect(await a.ask({ op: 'release', hold: first.hold })).toMatchObject({ result: { outcome: cause } });
      if (when === 'still')
        expect(await b.ask({ op: 'release', hold: second.hold })).toMatchObject({
          result: { outcome: 'released' },
        });
      await released(resource, 2);
      expect(await value('lost_total', { resource })).toBe(1);
      expect(await value('release_not_owned_total', { resource })).toBe(1);
      expect(await value('release_not_owned_total', { resource, cause })).toBe(1);
      expect(await value('overlaps_total', { resource })).toBe(1);
      await Promise.all([a.process.stop(), b.process.stop()]);
    },
  );
});
