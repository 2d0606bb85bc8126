import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { singleServer } from '../../../../exporter/sampler/deployment.js';
import { type RedisSentinel, startSentinel } from '../../../support/redis-sentinel.js';
import { waitFor } from '../../../support/wait-for.js';
import { holdKey } from './held.js';
import { connectNode, sampleDeployment, type TestSampler } from './start-sampler.js';

let setup: RedisSentinel;
let made: TestSampler | undefined;

beforeAll(async () => {
  setup = await startSentinel();
}, 60_000);
afterEach(() => made?.stop());
afterAll(() => setup?.stop());

function connect(role: 'master' | 'replica', master = setup.masterName) {
  const address = { kind: 'sentinel', hosts: setup.sentinels, master, role } as const;
  return connectNode(0, { connection: { address: { ...address, sentinelPassword: undefined } } }, role);
}

it('a replica is swept where that is asked for, and held keys are looked at on the master all the same', async () => {
  const master = await setup.master();
  const replica = setup.servers.find((server) => server !== master);
  await master.client().set('lock:a', 'v', 'PX', 60_000);
  await master.client().wait(1, 2000);
  made = sampleDeployment(singleServer(connect('replica'), connect('master')));
  await waitFor(() => made?.sampler.tick().then(() => made?.records.up === 'ok'), { what: 'a good sample' });
  expect(made.keys()).toEqual(['lock:a']);
  expect(await replica?.client().info('commandstats')).toContain('cmdstat_scan');
  expect(await master.client().info('commandstats')).not.toContain('cmdstat_scan');
  holdKey(made.heldKeys, 'lock:a', 'v');
  await made.watch.tick();
  const runId = /run_id:(\w+)/.exec(await master.client().info('server'))?.[1];
  expect(made.records.heldLooks.at(-1)).toMatchObject([{ state: 'there', serverId: runId }]);
});

it('after a failover the new master is sampled without a restart, and what the old one lost is no release', async () => {
  await (await setup.master()).client().set('lock:b', 'v', 'PX', 60_000);
  await (await setup.master()).client().wait(1, 2000);
  made = sampleDeployment(singleServer(connect('master')));
  const { sampler, records, keys } = made;
  await waitFor(() => sampler.tick().then(() => records.up === 'ok'), { what: 'a good sample' });
  const next = await setup.failover('kill');
  await next.client().set('lock:new', 'v', 'PX', 60_000);
  await next.client().del('lock:b');
  const seesNew = () => sampler.tick().then(() => keys().includes('lock:new'));
  await waitFor(seesNew, { what: 'a sample of the new master', timeoutMs: 20_000 });
  expect(keys()).not.toContain('lock:b');
  expect([...records.changes.values()].map(({ released }) => released)).toEqual([]);
}, 60_000);

it('a master that the Sentinels do not know is no connection', async () => {
  made = sampleDeployment(singleServer(connect('master', 'nobody')));
  await made.sampler.tick();
  expect(made.records.up).toBe('connection');
});
