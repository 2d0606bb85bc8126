import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../support/free-port.js';
import { type RedisServer, type RedisServerOptions, startRedis } from '../../../support/redis-server.js';
import { redisErrors } from '../../../support/resp-reply.js';
import { type RespStub, type StubHandler, startRespStub } from '../../../support/resp-stub.js';
import { waitFor } from '../../../support/wait-for.js';
import { makeSampler, type TestSampler, type TestSamplerOptions } from './start-sampler.js';

const undo: (() => unknown)[] = [];

function make(port: number, options: TestSamplerOptions = {}): TestSampler {
  const made = makeSampler(port, options);
  undo.push(() => made.stop());
  return made;
}

async function start(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  undo.push(() => server.stop());
  return server;
}

async function stub(handler: StubHandler): Promise<RespStub> {
  const made = await startRespStub({ handler });
  undo.push(() => made.stop());
  return made;
}

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

it('a killed Redis withdraws the sample, and its restart brings it back without a restart of the exporter (B9)', async () => {
  const server = await start();
  const client = server.client();
  await client.set('lock:a', 'v');
  const { sampler, records, keys } = make(server.port);
  await sampler.tick();
  expect([records.up, keys()]).toEqual(['ok', ['lock:a']]);
  await server.kill();
  await sampler.tick();
  expect([records.up, keys(), records.errors]).toEqual(['connection', [], ['connection']]);
  expect(sampler.state()).toMatchObject({ status: 'failed', reason: 'connection', last: { keys: 1 } });
  await server.restart();
  await waitFor(() => sampler.tick().then(() => records.up === 'ok'), { what: 'a good sample' });
  expect([keys(), records.last.resources.size]).toEqual([[], 0]);
});

describe('another server behind the same address, in the middle of a cut round', () => {
  const names = Array.from({ length: 3000 }, (_, at) => `lock:n:${at}`);

  async function cutRound(options: TestSamplerOptions) {
    const rights = '+select +time +evalsha +eval +scan +pttl +type +getrange';
    const server = await start({ acl: [`exporter on >secret resetchannels -@all ~lock:* ${rights}`] });
    await server.client().mset(names.flatMap((name) => [name, 'v']));
    const made = make(server.port, { ...options, limits: { maxKeys: 900 } });
    await made.sampler.tick();
    expect(made.records.last.truncated).toBe(true);
    return { server, ...made };
  }

  async function replace(server: RedisServer): Promise<void> {
    await server.kill();
    await server.restart();
    const others = Array.from({ length: 2000 }, (_, at) => `lock:other:${at}`);
    await server.client().mset(others.flatMap((name) => [name, 'v']));
  }

  it.each([
    ['INFO', {}],
    [
      'the connection, where INFO is not allowed',
      { connection: { user: 'exporter', readPassword: () => 'secret' } },
    ],
  ])('is known by %s, whether or not a look met the gap', async (_, options) => {
    const { server, sampler, keys, records } = await cutRound(options as TestSamplerOptions);
    await replace(server);
    await waitFor(() => sampler.tick().then(() => records.up === 'ok' && keys().length > 0), {
      what: 'a sample of the other server',
    });
    expect(records.last.truncated).toBe(true);
    expect(keys().filter((name) => names.includes(name))).toEqual([]);
  });
});

it('an exporter that is there before its Redis needs no tick to see it come (B9)', async () => {
  const port = await freePort();
  const { sampler, records } = make(port);
  sampler.start();
  expect(records.withdrawn).toEqual(['starting']);
  await waitFor(() => records.errors.length > 0, { what: 'a failed sample' });
  await start({ args: ['--port', String(port)] });
  await waitFor(() => records.up === 'ok', { what: 'a good sample' });
});

it('a Redis that loads its data is said to load, and then sampled (B9)', async () => {
  let loading = true;
  const lying = await stub((_args, { command }) => {
    if (command === 'TIME') return ['1700000000', '0'];
    if (command !== 'EVALSHA') return undefined;
    return loading ? redisErrors.loading() : undefined;
  });
  const { sampler, records } = make(lying.port);
  await sampler.tick();
  expect(records.up).toBe('loading');
  loading = false;
  await sampler.tick();
  expect(records.up).not.toBe('loading');
});

it('a Redis that stands still costs one command’s time limit, and is seen again when it goes on (C5)', async () => {
  const server = await start();
  await server.client().set('lock:a', 'v');
  const { sampler, records, keys } = make(server.port, { connection: { commandTimeoutMs: 200 } });
  await sampler.tick();
  await server.pause();
  await sampler.tick();
  expect([records.up, keys()]).toEqual(['command_timeout', []]);
  // Also in the moment in which the silent connection is given up and a new one is not there yet.
  for (let looks = 0; looks < 4; looks += 1) await sampler.tick();
  expect(new Set(records.withdrawn)).toEqual(new Set(['command_timeout']));
  expect(records.samples).toHaveLength(1);
  await server.resume();
  await waitFor(() => sampler.tick().then(() => records.up === 'ok'), { what: 'a good sample' });
  expect(keys()).toEqual(['lock:a']);
});

describe('passwords', () => {
  const SECRET = 'p@ss:w/o#r%d,"$}';

  it('a wrong one is no_auth, the right one is read again at the next connect (B10)', async () => {
    const server = await start({ password: SECRET });
    let password = 'wrong';
    const { sampler, records } = make(server.port, { connection: { readPassword: () => password } });
    await sampler.tick();
    expect(records.up).toBe('no_auth');
    password = SECRET;
    await waitFor(() => sampler.tick().then(() => records.up === 'ok'), { what: 'a good sample' });
  });

  it('a user without a password logs in as that user, not as the default one', async () => {
    const acl = ['exporter on nopass resetchannels -@all ~lock:* +@read +@scripting +select +time'];
    const server = await start({ acl });
    await server.client().set('lock:a', 'v');
    await server.client().acl('SETUSER', 'default', 'resetkeys');
    const { sampler, records, keys } = make(server.port, { connection: { user: 'exporter' } });
    await sampler.tick();
    expect([records.up, keys()]).toEqual(['ok', ['lock:a']]);
  });

  it('a user that wants a password and gets none is no_auth, not the default user', async () => {
    const server = await start({ acl: ['exporter on >secret ~* +@all'] });
    const { sampler, records } = make(server.port, { connection: { user: 'exporter' } });
    await sampler.tick();
    expect(records.up).toBe('no_auth');
  });

  it('none where one is wanted is no_auth', async () => {
    const server = await start({ password: SECRET });
    const { sampler, records } = make(server.port);
    await sampler.tick();
    expect(records.up).toBe('no_auth');
  });
});

it('a database that does not exist is a failure, not database 0', async () => {
  const server = await start();
  await server.client().set('lock:zero', 'v');
  const { sampler, records, keys } = make(server.port, { connection: { db: 999 } });
  await sampler.tick();
  await sampler.tick();
  expect([records.up, records.samples.length, keys()]).toEqual(['other', 0, []]);
});

describe('a user with few rights', () => {
  const login = { user: 'exporter', readPassword: () => 'secret' };
  const ACL = 'exporter on >secret resetchannels -@all ~lock:*';

  it('sweeps by script with these commands', async () => {
    const server = await start({ acl: [`${ACL} +select +time +evalsha +eval +scan +pttl +type +getrange`] });
    await server.client().set('lock:a', 'v');
    await server.client().set('other', 'v');
    const { sampler, records, keys } = make(server.port, { connection: login });
    await sampler.tick();
    expect([records.up, records.errors, keys()]).toEqual(['ok', [], ['lock:a']]);
  });

  it.each([
    ['no scripts', '+scan +pttl +type +getrange'],
    ['scripts, but not TIME', '+evalsha +eval +scan +pttl +type +getrange'],
  ])('sweeps by plain commands when it may run %s', async (_what, rights) => {
    const server = await start({ acl: [`${ACL} +select ${rights}`] });
    await server.client().set('lock:a', 'v', 'PX', 60_000);
    const { sampler, records, keys } = make(server.port, { by: 'fallback', connection: login });
    await sampler.tick();
    await sampler.tick();
    expect([records.up, records.errors, keys()]).toEqual(['ok', [], ['lock:a']]);
    expect([...sampler.locks()][0]?.owner).not.toBeNull();
  });

  it.each(['script', 'commands'] as const)(
    'sweeps two prefixes that have no beginning in common by %s, and asks for no key beside them',
    async (by) => {
      const rights = '+select +time +evalsha +eval +scan +pttl +type +getrange';
      const acl = `exporter on >secret resetchannels -@all ~lock:* ~bull:* ${rights}`;
      const server = await start({ acl: [acl] });
      const client = server.client();
      // One of each shape that a pattern for both could take for a lock.
      for (const key of ['lock:a', 'bull:b', 'other:c', 'lulk:d', 'bock:e']) await client.set(key, 'v');
      await client.config('RESETSTAT');
      const keyPrefixes = ['lock:', 'bull:'];
      const { sampler, records, keys } = make(server.port, { by, keyPrefixes, connection: login });
      await sampler.tick();
      expect([records.up, records.errors, keys()]).toEqual(['ok', [], ['bull:b', 'lock:a']]);
      const stats = await client.info('commandstats');
      const calls = ['pttl', 'getrange'].map(
        (name) => new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1],
      );
      expect(calls).toEqual(['2', '2']);
    },
  );

  it('says no_permission when it may do neither', async () => {
    const server = await start({ acl: [`${ACL} +select +pttl`] });
    const { sampler, records } = make(server.port, { by: 'fallback', connection: login });
    await sampler.tick();
    expect(records.up).toBe('no_permission');
  });
});

it('keys of another node’s slots are skipped and counted as moved (B8)', async () => {
  const lying = await stub((args, { command }) => {
    const key = String(args[1]);
    if (command === 'TIME') return ['1700000000', '0'];
    if (command === 'EVALSHA') return redisErrors.noPerm('evalsha');
    if (command === 'SCAN') return ['0', ['lock:here', 'lock:there']];
    if (key === 'lock:there') return redisErrors.moved(1, '127.0.0.1', 1);
    if (command === 'PTTL') return 5000;
    return command === 'TYPE' ? 'string' : 'token';
  });
  const { sampler, records, keys } = make(lying.port, { by: 'fallback' });
  await sampler.tick();
  expect([records.up, records.errors, keys()]).toEqual(['ok', ['moved'], ['lock:here']]);
});

it('a script that answers nonsense fails the sample, not the process', async () => {
  const lying = await stub((_args, { command }) => {
    if (command === 'TIME') return ['1700000000', '0'];
    return command === 'EVALSHA' ? ['whatever', 'this', 'is'] : undefined;
  });
  const { sampler, records } = make(lying.port);
  await sampler.tick();
  expect(records.up).toBe('bad_reply');
});

it.each(['x', undefined])(
  'too many clients is said as such, by each look, with password %s',
  async (password) => {
    const server = await start(password === undefined ? {} : { password });
    const admin = server.client();
    await admin.config('SET', 'maxclients', '1');
    const { sampler, records } = make(server.port, { connection: { readPassword: () => password } });
    for (let looks = 0; looks < 4; looks += 1) await sampler.tick();
    expect(new Set(records.withdrawn)).toEqual(new Set(['max_clients']));
    await admin.config('SET', 'maxclients', '100');
    await waitFor(() => sampler.tick().then(() => records.up === 'ok'), { what: 'a good sample' });
  },
);
