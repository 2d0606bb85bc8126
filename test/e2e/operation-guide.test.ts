import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { lockId, ownerDigest } from '../../contract/lock-id.js';
import { fenceKey } from '../../lua/fence-key.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { httpPost } from '../support/http.js';
import { spawnChild } from '../support/processes.js';
import { type RedisCluster, startCluster } from '../support/redis-cluster.js';
import { startSentinel } from '../support/redis-sentinel.js';
import { startRedis } from '../support/redis-server.js';
import { requireBinary } from '../support/require-binary.js';
import { makeTempDir } from '../support/temp-dir.js';
import { waitFor } from '../support/wait-for.js';
import { codeBlocks } from '../unit/docs/examples.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (page: string) => readFileSync(join(ROOT, 'docs', page), 'utf8');

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(...flags: string[]) {
  const exporter = await startExporterProcess(['--first-increment-hold=0s', ...flags]);
  undo.push(() => exporter.process.kill('SIGKILL'));
  return exporter;
}

const ACL_LINES = codeBlocks(read('operations.md'), 'acl').map((text) =>
  text
    .trim()
    .replace(/^ACL SETUSER /, '')
    .replace('>PASSWORD', '>secret'),
);
const [BY_SCRIPT = '', BY_COMMANDS = '', HELD = '', CLUSTER = '', CLUSTER_HELD = '', CLUSTER_REPLICA = ''] =
  ACL_LINES;
const KEY = 'lock:stock:1';

describe('the rights in docs/operations.md are enough', () => {
  it('there are six', () => expect(ACL_LINES).toHaveLength(6));

  describe.each([
    ['a server', startAlone],
    ['Sentinels', startBehindSentinels],
  ] as const)('for %s', (_, startSite) => {
    it.each([
      ['sweep by script', 'sweep', BY_SCRIPT],
      ['sweep by commands', 'sweep', BY_COMMANDS],
      ['held keys', 'held', HELD],
    ] as const)('%s', async (_what, mode, line) => {
      const site = await startSite(line);
      await expectWhole(await watchLock(site.url, '--sample-mode', mode));
    });
  });

  describe('for a cluster', () => {
    let cluster: RedisCluster;
    let url: string;
    beforeAll(async () => {
      cluster = await startCluster({ masters: 3, replicasPerMaster: 1 });
      const ranges = async () => (await cluster.masters[2]?.client().cluster('SLOTS')) as unknown[][];
      const all = async () => (await ranges()).every((range) => range.length === 4);
      await waitFor(all, { what: 'the seed to know all replicas', timeoutMs: 15_000 });
      url = `redis+cluster://exporter:secret@127.0.0.1:${cluster.masters[2]?.port}`;
      await cluster.client().set(KEY, 'token', 'PX', 120_000);
    }, 60_000);
    afterAll(() => cluster?.stop());

    async function allow(line: string): Promise<void> {
      for (const node of [...cluster.masters, ...cluster.replicas]) {
        await node.client().call('ACL', 'DELUSER', 'exporter');
        await node.client().call('ACL', 'SETUSER', ...line.split(' '));
      }
    }

    it.each([
      ['sweep by script', CLUSTER, ['--sample-mode=sweep']],
      ['held keys', CLUSTER_HELD, ['--sample-mode=held']],
      ['sweep of replicas', CLUSTER_REPLICA, ['--sample-mode=sweep', '--sample-from=replica']],
    ])('%s', async (_, line, flags) => {
      await allow(line);
      await expectWhole(await watchLock(url, ...flags));
    });

    it.each([
      ['cluster|slots', CLUSTER, '--sample-from=master', 'no_permission'],
      ['readonly', CLUSTER_REPLICA, '--sample-from=replica', 'moved'],
    ])('without %s nothing works, and the page says why', async (right, line, flag, reason) => {
      await allow(line.replace(` +${right}`, ''));
      const exporter = await start('--redis-url', url, '--sample-mode=sweep', flag, ...EACH_SECOND);
      const errors = () => exporter.value('redis_lock_sample_errors_total', { reason });
      await waitFor(async () => ((await errors()) ?? 0) > 0, { what: `an error: ${reason}` });
    });
  });
});

const EACH_SECOND = ['--sample-schedule', '* * * * * *'];

async function startAlone(line: string): Promise<{ url: string }> {
  const redis = await startRedis({ acl: [line] });
  undo.push(() => redis.stop());
  await redis.client().set(KEY, 'token', 'PX', 60_000);
  await redis.client().set('private', 'x');
  return { url: `redis://exporter:secret@127.0.0.1:${redis.port}` };
}

async function startBehindSentinels(line: string): Promise<{ url: string }> {
  const site = await startSentinel();
  undo.push(() => site.stop());
  for (const server of site.servers) await server.client().call('ACL', 'SETUSER', ...line.split(' '));
  const master = (await site.master()).client();
  await master.set(KEY, 'token', 'PX', 60_000);
  const [sentinel] = site.sentinels;
  return { url: `redis+sentinel://exporter:secret@127.0.0.1:${sentinel?.port}/${site.masterName}` };
}

/** An exporter that is told of the lock by an event, and is to see it in Redis. */
async function watchLock(url: string, ...flags: string[]): Promise<ExporterProcess> {
  const exporter = await start('--redis-url', url, ...flags, ...EACH_SECOND);
  await httpPost(`${exporter.localUrl}/v1/events`, grantOf(KEY));
  return exporter;
}

async function expectWhole(exporter: ExporterProcess): Promise<void> {
  await waitFor(async () => (await exporter.value('redis_lock_keys', { resource: 'stock' })) === 1, {
    what: 'the lock to be seen',
    timeoutMs: 15_000,
  });
  expect(await exporter.value('redis_lock_up')).toBe(1);
  expect(await exporter.value('redis_lock_sample_errors_total')).toBe(0);
  expect(await exporter.value('redis_lock_sample_truncated')).toBe(0);
}

it.each(['operations.md', 'reference/events.md'])(
  'the curl of docs/%s is taken by an exporter',
  async (page) => {
    const exporter = await start('--sample-mode=off');
    const [script = ''] = codeBlocks(read(page), 'sh').filter((text) => text.startsWith('curl'));
    const here = script.replace('http://127.0.0.1:9723', exporter.localUrl);
    expect(here).not.toBe(script);
    const child = await spawnChild(requireBinary('sh', 'dash'), { args: ['-c', here] });
    await child.exited;
    expect(JSON.parse(child.stdout.text())).toMatchObject({ accepted: 1, rejected: [], duplicate: false });
    const lost = { resource: 'stock', cause: 'expired' };
    expect(await exporter.value('redis_lock_release_not_owned_total', lost)).toBe(1);
  },
);

const PROCEDURES = readFileSync(join(ROOT, 'alerts', 'procedures.md'), 'utf8');

it.each(['held', 'given back'])(
  'the recipe from lock id to key finds the key of a lock that is %s',
  async (state) => {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    await redis.client().set(fenceKey(KEY), '1');
    await redis.client().set(fenceKey('lock:stock:2'), '1');
    if (state === 'held') await redis.client().set(KEY, 'token');
    const [recipe = ''] = indentedBlocks(PROCEDURES, 'sh').filter((text) => text.includes('lockId('));
    const mine = recipe.replace('0123456789abcdef', lockId('default', KEY));
    expect(mine).not.toBe(recipe);
    expect(
      await shell(mine, { REDIS: `${requireBinary('redis-cli', 'redis-tools')} -p ${redis.port}` }),
    ).toBe(KEY);
  },
);

it('the recipe for tokens makes the first one, adds another, and lets nobody else read them', async () => {
  const folder = makeTempDir('tokens');
  undo.push(() => folder.remove());
  const file = join(folder.path, 'tokens');
  const [first = '', next = '', ...others] = codeBlocks(read('operations.md'), 'sh').filter((text) =>
    text.includes('/dev/urandom'),
  );
  expect(others).toEqual([]);
  const tokens = () => readFileSync(file, 'utf8').trimEnd().split('\n');
  const statusWith = async (exporter: ExporterProcess, token = '') => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${exporter.localUrl}/api/v1/status`, { headers })).status;
  };

  await shell(first, {}, folder.path);
  const [old] = tokens();
  expect(modeOf(file)).toBe('600');
  const exporter = await start('--sample-mode=off', '--token-file', file);
  expect(await statusWith(exporter, old)).toBe(200);
  await shell(next, {}, folder.path);

  expect(tokens()).toEqual([expect.stringMatching(/^\S{44}$/), old]);
  expect(modeOf(file)).toBe('600');
  expect(readdirSync(folder.path)).toEqual(['tokens']);
  const [added] = tokens();
  await waitFor(async () => (await statusWith(exporter, added)) === 200, { what: 'the new token to count' });
  expect(await statusWith(exporter, old)).toBe(200);
  expect(await statusWith(exporter, 'x')).toBe(401);
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Fenced blocks within a list. */
function indentedBlocks(markdown: string, language: string): string[] {
  return codeBlocks(markdown.replaceAll(/^ {3}/gm, ''), language);
}

/**
 * What a script writes, run at the root of the package, in a shell with the usual file mode. It must succeed without a
 * word of complaint.
 */
async function shell(
  script: string,
  env: Readonly<Record<string, string>>,
  cwd: string = ROOT,
): Promise<string> {
  const child = await spawnChild(requireBinary('sh', 'dash'), {
    args: ['-c', `umask 022\n${script}`],
    env,
    cwd,
  });
  const { code } = await child.exited;
  expect({ code, complaint: child.stderr.text() }).toEqual({ code: 0, complaint: '' });
  return child.stdout.text();
}

function grantOf(key: string): object {
  const now = Date.now();
  const envelope = {
    v: 1,
    producer: 'producer-1',
    startedAtMs: now,
    seq: 1,
    sentAtMs: now,
    store: 'default',
  };
  const what = { kind: 'acquire', outcome: 'acquired', atMs: now, mode: 'try', waitMs: 1, attempts: 1 };
  const lock = { lock: lockId('default', key), owner: ownerDigest('token'), resource: 'stock' };
  const lease = { leaseMs: 60_000, watchdog: false, serverUs: now * 1000, serverId: 'a' };
  const event = { ...what, ...lock, ...lease, keyBase64: Buffer.from(key).toString('base64') };
  return { ...envelope, app: 'a', instance: 'i', dropped: {}, events: [event] };
}
