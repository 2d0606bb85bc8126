import type { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { clusterDeployment } from '../../../../exporter/sampler/cluster.js';
import { startCluster } from '../../../support/redis-cluster.js';
import { startRedis } from '../../../support/redis-server.js';
import { waitFor } from '../../../support/wait-for.js';
import { connectNode, makeSampler, sampleDeployment, type TestSampler } from './start-sampler.js';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const RIGHTS = '+select +time +evalsha +eval +scan +pttl +type +getrange +info';
const USER = `exporter on >secret resetchannels -@all ~lock:* ${RIGHTS}`;
const acl = (admin: Redis, ...rules: string[]) => admin.call('ACL', 'SETUSER', 'exporter', ...rules);
const hangUp = (admin: Redis) => admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
const isUp = ({ sampler, records }: TestSampler, up: string) => sampler.tick().then(() => records.up === up);

// B9 for every state that a Redis can be in and come back from: nothing needs a restart of the exporter.
it.each<[what: string, reason: string, spoil: (admin: Redis) => unknown, mend: (admin: Redis) => unknown]>([
  [
    'its user is switched off',
    'no_auth',
    (admin) => acl(admin, 'off').then(() => hangUp(admin)),
    (admin) => acl(admin, 'on'),
  ],
  [
    'its user is deleted, and made again',
    'no_auth',
    (admin) => admin.call('ACL', 'DELUSER', 'exporter'),
    (admin) => acl(admin, ...USER.split(' ').slice(1)),
  ],
  ['a right is taken away', 'no_permission', (admin) => acl(admin, '-scan'), (admin) => acl(admin, '+scan')],
  [
    'it is a replica that has lost its master',
    'master_down',
    async (admin) => {
      await admin.config('SET', 'replica-serve-stale-data', 'no');
      await admin.replicaof('127.0.0.1', 1);
    },
    (admin) => admin.call('REPLICAOF', 'NO', 'ONE'),
  ],
  ['the scripts are flushed', 'ok', (admin) => admin.script('FLUSH'), () => {}],
])('when %s the page says %s, and all is well again after it', async (_, reason, spoil, mend) => {
  const server = await startRedis({ acl: [USER] });
  undo.push(() => server.stop());
  const admin = server.client();
  await admin.set('lock:a', 'v');
  const connection = { user: 'exporter', readPassword: () => 'secret' };
  const made = makeSampler(server.port, { by: 'fallback', connection });
  undo.push(() => made.stop());
  await made.sampler.tick();
  expect(made.records.up).toBe('ok');
  await spoil(admin);
  await waitFor(() => isUp(made, reason), { what: reason });
  await mend(admin);
  await waitFor(() => isUp(made, 'ok').then((up) => up && made.keys().length === 1), {
    what: 'a good sample',
    timeoutMs: 20_000,
  });
});

it('a script of others that holds Redis up is told as busy, and all is well again after it', async () => {
  const server = await startRedis({ args: ['--busy-reply-threshold', '50'] });
  undo.push(() => server.stop());
  const [admin, other] = [server.client(), server.client()];
  const made = makeSampler(server.port);
  undo.push(() => made.stop());
  await made.sampler.tick();
  const endless = other.eval('while true do end', 0).catch(() => {});
  await waitFor(() => isUp(made, 'busy'), { what: 'busy' });
  await admin.script('KILL');
  await endless;
  await waitFor(() => isUp(made, 'ok'), { what: 'a good sample' });
});

it('a cluster of which every node is killed and started again is sampled whole again', async () => {
  const cluster = await startCluster({ masters: 3 });
  undo.push(() => cluster.stop());
  const made = sampleDeployment(
    clusterDeployment({
      seeds: [{ host: '127.0.0.1', port: cluster.masters[0]?.port ?? 0 }],
      connect: ({ port }, name, readOnly) => connectNode(port, { connection: { readOnly } }, name),
      sweepReplicas: false,
    }),
  );
  undo.push(() => made.stop());
  await waitFor(() => isUp(made, 'ok'), { what: 'a good sample' });
  for (const node of cluster.masters) await node.kill('SIGKILL');
  await made.sampler.tick();
  expect(made.records.up).toBe('connection');
  for (const node of cluster.masters) await node.restart();
  const isWhole = () => isUp(made, 'ok').then((up) => up && !made.records.last.truncated);
  await waitFor(isWhole, { what: 'a whole sample', timeoutMs: 30_000 });
}, 60_000);

it('a Redis on a unix socket is sampled, and again after it was away', async () => {
  const server = await startRedis({ unixSocket: true });
  undo.push(() => server.stop());
  const path = server.unixSocket ?? '';
  const made = makeSampler(0, { connection: { address: { kind: 'unix', path } } });
  undo.push(() => made.stop());
  await waitFor(() => isUp(made, 'ok'), { what: 'a good sample' });
  await server.kill();
  await waitFor(() => isUp(made, 'connection'), { what: 'the failure' });
  await server.restart();
  await waitFor(() => isUp(made, 'ok'), { what: 'a good sample', timeoutMs: 15_000 });
});
