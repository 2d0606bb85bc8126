import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { singleServer } from '../../../../exporter/sampler/deployment.js';
import { freePort } from '../../../support/free-port.js';
import { type RedisSentinel, startSentinel } from '../../../support/redis-sentinel.js';
import { startRespStub } from '../../../support/resp-stub.js';
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

function connect(
  role: 'master' | 'replica',
  master = setup.masterName,
  readSentinelPassword: () => string | undefined = () => undefined,
) {
  const address = { kind: 'sentinel', hosts: setup.sentinels, master, role } as const;
  return connectNode(0, { connection: { address: { ...address, readSentinelPassword } } }, role);
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

it('a password of the Sentinels is read again at each connect, and a wrong one is said as no_auth', async () => {
  const admins = setup.sentinels.map((at) => new Redis({ ...at, lazyConnect: true }));
  let password = 'wrong';
  try {
    for (const admin of admins) await admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>right');
    made = sampleDeployment(singleServer(connect('master', setup.masterName, () => password)));
    const { sampler, records } = made;
    await waitFor(() => sampler.tick().then(() => records.up === 'no_auth'), { what: 'no_auth' });
    password = 'right';
    await waitFor(() => sampler.tick().then(() => records.up === 'ok'), {
      what: 'a good sample',
      timeoutMs: 20_000,
    });
  } finally {
    for (const admin of admins) {
      await admin.call('ACL', 'SETUSER', 'default', 'nopass');
      admin.disconnect();
    }
  }
});

it('Sentinels that come only later are found without a restart, however many looks failed before', async () => {
  const port = await freePort();
  const address = {
    kind: 'sentinel',
    hosts: [{ host: '127.0.0.1', port }],
    master: 'm',
    role: 'master',
  } as const;
  const parts = connectNode(0, {
    connection: { address: { ...address, readSentinelPassword: () => undefined } },
  });
  made = sampleDeployment(singleServer(parts));
  const { sampler, records } = made;
  for (let looks = 0; looks < 3; looks += 1) await sampler.tick();
  expect(new Set(records.withdrawn)).toEqual(new Set(['connection']));
  const master = await setup.master();
  const stub = await startRespStub({
    port,
    handler: (args, { command }) => {
      if (command !== 'SENTINEL') return undefined;
      return String(args[1]) === 'sentinels' ? [] : ['127.0.0.1', String(master.port)];
    },
  });
  try {
    await waitFor(() => sampler.tick().then(() => records.up === 'ok'), {
      what: 'a good sample',
      timeoutMs: 20_000,
    });
  } finally {
    await stub.stop();
  }
});

it('a master that the Sentinels do not know is no connection', async () => {
  made = sampleDeployment(singleServer(connect('master', 'nobody')));
  await made.sampler.tick();
  expect(made.records.up).toBe('connection');
});
