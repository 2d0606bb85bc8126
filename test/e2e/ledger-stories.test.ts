import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockId } from '../../contract/lock-id.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { type NodeChild, spawnNode } from '../support/holder-process.js';
import { httpGet, httpPost } from '../support/http.js';
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
    signalProcess(a.pid, 'SIGCONT');
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
    const { entries } = JSON.parse(body) as { entries: { kind: string; fence?: number }[] };
    const grants = entries.filter(({ kind }) => kind === 'acquire').map(({ fence }) => fence);
    expect(grants).toEqual([first.fence, second.fence]);
    await Promise.all([a.process.stop(), b.process.stop()]);
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
