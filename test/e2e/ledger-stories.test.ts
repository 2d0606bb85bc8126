import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockId } from '../../contract/lock-id.js';
import { fenceKey } from '../../lua/fence-key.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { type NodeChild, spawnNode } from '../support/holder-process.js';
import { httpGet, httpPost } from '../support/http.js';
import { type RedisSentinel, startSentinel } from '../support/redis-sentinel.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { signalProcess } from '../support/signal-process.js';
import { waitFor } from '../support/wait-for.js';

const HOLDER = fileURLToPath(new URL('../support/holder-main.mjs', import.meta.url));
const LEASE_MS = 1500;

interface Findings {
  findings: {
    kind: string;
    resource: string;
    lengthMs: number | null;
    approximate: boolean;
    [field: string]: unknown;
  }[];
}

/** What an overlap shows besides. */
interface Overlap {
  readonly other: { readonly fence: number; readonly grantUs: number };
  readonly others: readonly { readonly fence: number }[];
  readonly suspectFromUs: number;
  readonly suspectUntilUs: number;
}

describe('what the ledger tells of real processes', () => {
  let redis: RedisServer;
  let exporter: ExporterProcess;

  const holder = async (): Promise<NodeChild> => {
    const env = { HOLDER_REDIS_URL: redis.url, HOLDER_INGEST_URL: exporter.localUrl };
    const child = await spawnNode(HOLDER, { env });
    await child.next('ready');
    return child;
  };
  const value = (family: string, resource: string) => exporter.value(`redis_lock_${family}`, { resource });
  const findingsOf = async (resource: string) => {
    const { body } = await httpGet(`${exporter.localUrl}/api/v1/findings`);
    return (JSON.parse(body) as Findings).findings.filter((one) => one.resource === resource);
  };

  beforeAll(async () => {
    redis = await startRedis();
    exporter = await startExporterProcess(['--redis-url', redis.url, '--first-increment-hold', '0s']);
  });

  afterAll(async () => {
    await exporter?.process.stop();
    await redis?.stop();
  });

  it('a holder stopped beyond its lease, another granted meanwhile: one overlap of the right length, with both on the timeline', async () => {
    const key = 'lock:paused:1';
    const [a, b] = await Promise.all([holder(), holder()]);
    const first = await a.ask({ op: 'acquire', key, leaseMs: LEASE_MS });
    await waitFor(async () => (await value('acquire_total', 'paused')) === 1, {
      what: 'the grant to arrive',
    });
    signalProcess(a.pid, 'SIGSTOP');
    const second = await b.ask({ op: 'acquire', key, waitMs: 5000, leaseMs: 20_000 });
    const store = 'accounts:1';
    const written = await b.ask({ op: 'write', hold: second.hold, key: store, value: 'by b' });
    signalProcess(a.pid, 'SIGCONT');
    const late = await a.ask({ op: 'write', hold: first.hold, key: store, value: 'by a, too late' });
    expect([written.outcome, late.outcome]).toEqual(['accepted', 'rejected']);
    expect(await redis.client().hget(store, 'value')).toBe('by b');
    await a.ask({ op: 'release', hold: first.hold });
    await b.ask({ op: 'release', hold: second.hold });
    const overlap = await waitFor(
      async () => (await findingsOf('paused')).find(({ lengthMs }) => lengthMs !== null),
      { what: 'the overlap and its length' },
    );
    expect(await findingsOf('paused')).toHaveLength(1);
    expect(overlap).toMatchObject({
      kind: 'overlap',
      approximate: false,
      holder: { fence: first.fence, app: 'holder' },
      other: { fence: second.fence, app: 'holder' },
      timeline: `/api/v1/timeline?lock=${lockId('default', key)}`,
    });
    const { suspectFromUs, suspectUntilUs } = overlap as { suspectFromUs?: number; suspectUntilUs?: number };
    expect(overlap.lengthMs).toBeCloseTo(((suspectUntilUs ?? 0) - (suspectFromUs ?? 0)) / 1000, 3);
    expect(await value('overlaps_total', 'paused')).toBe(1);
    const { body } = await httpPost(`${exporter.localUrl}/api/v1/timeline`, { key });
    const { entries } = JSON.parse(body) as { entries: { kind: string; fence?: number; outcome?: string }[] };
    const grants = entries.filter(({ kind }) => kind === 'acquire').map(({ fence }) => fence);
    expect(grants).toEqual([first.fence, second.fence]);
    const refused = entries.filter(({ kind, outcome }) => kind === 'fence' && outcome === 'rejected');
    expect(refused).toMatchObject([{ fence: first.fence }]);
    expect(await value('fence_rejections_total', 'paused')).toBe(1);
    await Promise.all([a.process.stop(), b.process.stop()]);
  });

  it('one works beyond its lease while three others come and go: the window begins with the first of them', async () => {
    const key = 'lock:several:1';
    const [a, b] = await Promise.all([holder(), holder()]);
    const first = await a.ask({ op: 'acquire', key, leaseMs: 500 });
    const fences: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      const other = await b.ask({ op: 'acquire', key, waitMs: 5000, leaseMs: LEASE_MS });
      fences.push(other.fence);
      await b.ask({ op: 'release', hold: other.hold });
    }
    await a.ask({ op: 'release', hold: first.hold });
    const overlap = await waitFor(
      async () => (await findingsOf('several')).find(({ lengthMs }) => lengthMs !== null),
      { what: 'the overlap and its length' },
    );
    const { other, others, suspectFromUs, suspectUntilUs } = overlap as Overlap & typeof overlap;
    expect(overlap).toMatchObject({ holder: { fence: first.fence }, approximate: false, moreOthers: 0 });
    expect(others.map(({ fence }) => fence)).toEqual(fences);
    expect([other.fence, other.grantUs]).toEqual([fences[0], suspectFromUs]);
    expect(overlap.lengthMs).toBeCloseTo((suspectUntilUs - suspectFromUs) / 1000, 3);
    const { body } = await httpPost(`${exporter.localUrl}/api/v1/timeline`, { key });
    const { entries } = JSON.parse(body) as { entries: { kind: string; serverUs?: number }[] };
    expect(entries.find(({ kind }) => kind === 'overlap')?.serverUs).toBe(suspectFromUs);
    expect(await value('overlaps_total', 'several')).toBe(1);
    await Promise.all([a.process.stop(), b.process.stop()]);
  });

  it('a lease that ended during the work, and nobody came: one loss on the list, in the log and on the timeline', async () => {
    const key = 'lock:lonely:1';
    const a = await holder();
    const first = await a.ask({ op: 'acquire', key, leaseMs: 500 });
    await waitFor(async () => (await value('lost_total', 'lonely')) === 1, { what: 'the loss to arrive' });
    await a.ask({ op: 'release', hold: first.hold });
    const lock = lockId('default', key);
    expect(await findingsOf('lonely')).toMatchObject([
      {
        kind: 'lost',
        lock,
        holder: { fence: first.fence, app: 'holder' },
        other: null,
        loss: {
          by: 'deadline',
          leaseMs: 500,
          sinceGrantMs: expect.any(Number),
          loopDelayMs: expect.any(Number),
        },
        cause: 'slow_work',
        timeline: `/api/v1/timeline?lock=${lock}`,
      },
    ]);
    const line = await exporter.process.stdout.next(new RegExp(`"msg":"lost: .*${lock}`));
    expect(JSON.parse(line)).toMatchObject({ level: 'info', lock, holderFence: first.fence, by: 'deadline' });
    await a.process.stop();
  });

  it('a holder killed with -9, another granted after its lease: abandoned and taken over, no overlap, no loss', async () => {
    const key = 'lock:killed:1';
    const [a, b] = await Promise.all([holder(), holder()]);
    await a.ask({ op: 'acquire', key, leaseMs: 3000 });
    await waitFor(async () => (await value('acquire_total', 'killed')) === 1, {
      what: 'the grant to arrive',
    });
    await a.process.kill('SIGKILL');
    const next = await b.ask({ op: 'acquire', key, waitMs: 9000, leaseMs: 20_000 });
    const takenOver = { resource: 'killed', taken_over: 'true' };
    await waitFor(async () => (await exporter.value('redis_lock_abandoned_total', takenOver)) === 1, {
      what: 'the dead holder to be abandoned and taken over',
      timeoutMs: 15_000,
    });
    await b.ask({ op: 'release', hold: next.hold });
    expect(await findingsOf('killed')).toMatchObject([{ kind: 'abandoned', other: null, takenOver: true }]);
    for (const family of ['overlaps_total', 'lost_total', 'ghost_holders_total', 'fence_regressions_total'])
      expect(await value(family, 'killed')).toBe(0);
    await b.process.stop();
  });
});

/** Time for a Sentinel failover, a look at the held keys and the heartbeat that confirms it, on a busy machine. */
const GHOST_MS = 60_000;

describe('what the ledger tells of a failover', () => {
  it('a replica without the key is promoted, and another is granted there: a ghost first, then one overlap', async () => {
    const setup = await startSentinel();
    const sentinel = setup.sentinels[0];
    const url = `redis+sentinel://127.0.0.1:${sentinel?.port}/${setup.masterName}`;
    const exporter = await startExporterProcess(['--redis-url', url, '--first-increment-hold', '0s']);
    const children: NodeChild[] = [];
    try {
      const key = 'lock:moved:1';
      const env = { HOLDER_SENTINEL_PORT: String(sentinel?.port), HOLDER_INGEST_URL: exporter.localUrl };
      const [a, b] = await Promise.all([spawnNode(HOLDER, { env }), spawnNode(HOLDER, { env })]);
      children.push(a, b);
      await Promise.all([a.next('ready'), b.next('ready')]);
      const findings = async () => {
        const { body } = await httpGet(`${exporter.localUrl}/api/v1/findings`);
        return (JSON.parse(body) as Findings).findings.filter(({ resource }) => resource === 'moved');
      };
      const first = await a.ask({ op: 'acquire', key, leaseMs: 120_000 });
      await loseOnReplica(setup, key);
      await setup.failover();
      await waitFor(async () => (await findings()).some(({ kind }) => kind === 'ghost_holder'), {
        what: 'the ghost holder to be found',
        timeoutMs: GHOST_MS,
        everyMs: 100,
      });
      expect(await findings()).toMatchObject([{ kind: 'ghost_holder', holder: { fence: first.fence } }]);
      // Redis does not hold it, the client believes in it: it is told before its holder knows.
      expect(await a.ask({ op: 'state', hold: first.hold })).toMatchObject({ valid: true });
      const lost = { resource: 'moved', detected_by: 'sample' };
      expect(await exporter.value('redis_lock_lost_total', lost)).toBe(1);

      const second = await b.ask({ op: 'acquire', key, waitMs: 10_000, leaseMs: 60_000 }, 20_000);
      await a.ask({ op: 'release', hold: first.hold });
      const overlap = await waitFor(async () => (await findings()).find(({ kind }) => kind === 'overlap'), {
        what: 'the overlap',
        timeoutMs: 20_000,
      });
      // Grant and settling are both told in the new server's time, so nothing about them is approximate.
      expect(overlap).toMatchObject({
        approximate: false,
        holder: { fence: first.fence },
        other: { fence: second.fence },
      });
      await b.ask({ op: 'release', hold: second.hold });
      expect((await findings()).map(({ kind }) => kind).sort()).toEqual(['ghost_holder', 'overlap']);
      for (const [family, count] of [
        ['overlaps_total', 1],
        ['ghost_holders_total', 1],
        ['lost_total', 1],
      ] as const)
        expect(await exporter.value(`redis_lock_${family}`, { resource: 'moved' }), family).toBe(count);
    } finally {
      await Promise.all(children.map((child) => child.process.stop()));
      await exporter.process.stop();
      await setup.stop();
    }
  }, 180_000);
});

/** The replica never got the key: as when its master dies before it has sent it on. */
async function loseOnReplica(setup: RedisSentinel, key: string): Promise<void> {
  const replica = setup.servers[1]?.client();
  if (replica === undefined) throw new Error('a set-up has a replica');
  await waitFor(async () => (await replica.exists(key)) === 1, { what: 'the key to reach the replica' });
  await replica.config('SET', 'replica-read-only', 'no');
  await replica.del(key, String(fenceKey(key)));
  await replica.config('SET', 'replica-read-only', 'yes');
  replica.disconnect();
}
