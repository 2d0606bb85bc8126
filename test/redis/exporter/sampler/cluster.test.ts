import type { Cluster, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ownerDigest } from '../../../../contract/lock-id.js';
import { clusterDeployment } from '../../../../exporter/sampler/cluster.js';
import { readShare } from '../../../../exporter/sampler/cluster-share.js';
import { singleServer } from '../../../../exporter/sampler/deployment.js';
import { keySlot } from '../../../../lua/key-slot.js';
import { type RedisCluster, startCluster } from '../../../support/redis-cluster.js';
import { startRedis } from '../../../support/redis-server.js';
import { waitFor } from '../../../support/wait-for.js';
import { holdKey } from './held.js';
import { connectNode, sampleDeployment, type TestSampler, type TestSamplerOptions } from './start-sampler.js';

let cluster: RedisCluster;
let client: Cluster;
let admins: Redis[];
const made: TestSampler[] = [];

beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicasPerMaster: 1 });
  client = cluster.client();
  admins = cluster.masters.map((server) => server.client());
  // A node hears of the others' replicas by gossip, some time after they are in sync.
  const ranges = async () => (await admins.at(-1)?.cluster('SLOTS')) as unknown[][];
  const all = async () => (await ranges()).every((range) => range.length === 4);
  await waitFor(all, { what: 'the seed to know all replicas', timeoutMs: 15_000 });
}, 60_000);
beforeEach(async () => {
  for (const admin of admins) await admin.flushall();
});
afterEach(async () => {
  for (const sampler of made.splice(0)) await sampler.stop();
});
afterAll(() => cluster?.stop());

/** Knows only the last node at first. */
function make(options: TestSamplerOptions & { replicas?: boolean } = {}): TestSampler {
  const seed = cluster.masters.at(-1)?.port ?? 0;
  const deployment = clusterDeployment({
    seeds: [{ host: '127.0.0.1', port: seed }],
    connect: ({ port }, name, readOnly) => {
      return connectNode(port, { ...options, connection: { ...options.connection, readOnly } }, name);
    },
    sweepReplicas: options.replicas ?? false,
  });
  const sampler = sampleDeployment(deployment, options);
  made.push(sampler);
  return sampler;
}

const NAMES = Array.from({ length: 60 }, (_, at) => `lock:n:${at}`);
const isOfFirst = (name: string) => keySlot(Buffer.from(name)) < 5461;
/** Moves from the first node to the second in a test. */
const MOVING = NAMES.find(isOfFirst) ?? '';
const setAll = () => Promise.all(NAMES.map((name) => client.set(name, 'v', 'PX', 60_000)));

it.each(['script', 'commands'] as const)('every master is swept by %s, each key once', async (by) => {
  await setAll();
  const { sampler, records, keys } = make({ by });
  await sampler.tick();
  expect([records.up, records.errors, records.last.truncated]).toEqual(['ok', [], false]);
  expect(keys()).toEqual([...NAMES].sort());
});

it('replicas are swept where that is asked for, and nothing of a master is', async () => {
  await setAll();
  await Promise.all(admins.map((node) => node.wait(1, 1000)));
  const { sampler, keys } = make({ replicas: true });
  await Promise.all(admins.map((node) => node.config('RESETSTAT')));
  await sampler.tick();
  expect(keys()).toEqual([...NAMES].sort());
  const stats = await Promise.all(admins.map((node) => node.info('commandstats')));
  expect(stats.join()).not.toContain('cmdstat_scan');
});

it('keys of a slot on its way are not lost twice: truncated and moved, then whole again', async () => {
  await setAll();
  const { sampler, records, keys } = make();
  await sampler.tick();
  const slot = keySlot(Buffer.from(MOVING));
  const [from, to] = admins;
  const [fromId, toId] = [String(await from?.cluster('MYID')), String(await to?.cluster('MYID'))];
  await to?.cluster('SETSLOT', slot, 'IMPORTING', fromId);
  await from?.cluster('SETSLOT', slot, 'MIGRATING', toId);
  await from?.migrate('127.0.0.1', cluster.masters[1]?.port ?? 0, '', 0, 5000, 'KEYS', MOVING);
  await sampler.tick();
  expect([records.up, records.last.truncated, records.errors]).toEqual(['ok', true, ['moved']]);
  expect([...records.changes.values()]).toEqual([]);
  for (const admin of admins) await admin.cluster('SETSLOT', slot, 'NODE', toId);
  await sampler.tick();
  expect([records.last.truncated, keys()]).toEqual([false, [...NAMES].sort()]);
  expect([...records.changes.values()]).toEqual([]);
});

it.each(['sweep', 'held'] as const)(
  'one node named by itself: a %s shows its own keys, and says that others are elsewhere (B8)',
  async (mode) => {
    // B8: oliver006/redis_exporter#979, redis/redis#4810: a node lists keys it must not answer for.
    await setAll();
    const node = cluster.masters[0];
    const parts = connectNode(node?.port ?? 0);
    const sampler = sampleDeployment(singleServer(parts, parts, readShare(parts.redis)), { mode });
    made.push(sampler);
    for (const name of NAMES) holdKey(sampler.heldKeys, name, 'v');
    await sampler.sampler.tick();
    const { records } = sampler;
    expect([records.up, records.last.truncated, records.errors]).toEqual(['ok', true, ['moved']]);
    expect(sampler.keys().length).toBeGreaterThan(0);
    expect(sampler.keys().length).toBeLessThan(NAMES.length);
  },
);

it('a cluster of one node, named by itself, is whole', async () => {
  const server = await startRedis({ args: ['--cluster-enabled', 'yes'] });
  try {
    const admin = server.client();
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await waitFor(async () => (await admin.set('lock:n:1', 'v').catch(() => '')) === 'OK', {
      what: 'the cluster to be up',
    });
    const parts = connectNode(server.port);
    const sampler = sampleDeployment(singleServer(parts, parts, readShare(parts.redis)));
    await sampler.sampler.tick();
    const { records, keys } = sampler;
    expect([keys(), records.last.truncated, records.errors]).toEqual([['lock:n:1'], false, []]);
    await sampler.stop();
  } finally {
    await server.stop();
  }
});

it('held keys are looked at on their own masters', async () => {
  await setAll();
  const { watch, sampler, heldKeys, records } = make();
  await sampler.tick();
  for (const name of NAMES) holdKey(heldKeys, name, 'v');
  holdKey(heldKeys, 'lock:n:gone', 'v');
  await watch.tick();
  const looks = records.heldLooks.at(-1) ?? [];
  expect(looks.filter(({ state }) => state === 'gone')).toHaveLength(1);
  const there = looks.flatMap((look) => (look.state === 'there' ? [look] : []));
  expect(there).toHaveLength(NAMES.length);
  expect(new Set(there.map(({ owner }) => owner))).toEqual(new Set([ownerDigest('v')]));
  expect(new Set(looks.map(({ serverId }) => serverId)).size).toBe(3);
});

it('a master that is down costs its keys and no others; its replica takes over without a restart', async () => {
  await setAll();
  const [first] = cluster.masters;
  const { sampler, records, keys } = make({ connection: { commandTimeoutMs: 500 } });
  await sampler.tick();
  const lost = NAMES.filter((name) => isOfFirst(name) && name !== MOVING);
  await Promise.all(admins.map((node) => node.wait(1, 1000)));
  await first?.kill('SIGKILL');
  await sampler.tick();
  expect([records.up, records.last.truncated]).toEqual(['ok', true]);
  expect(keys().filter((name) => lost.includes(name))).toEqual([]);
  expect(records.errors.length).toBeGreaterThan(0);
  const whole = () => sampler.tick().then(() => records.up === 'ok' && !records.last.truncated);
  await waitFor(whole, { what: 'a whole sample after the failover', timeoutMs: 30_000 });
  expect(keys()).toEqual([...NAMES].sort());
  expect([...records.changes.values()]).toEqual([]);
}, 60_000);
