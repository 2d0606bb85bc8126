import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { lockId, ownerDigest } from '../../contract/lock-id.js';
import { startExporterProcess } from '../support/exporter-process.js';
import { httpPost } from '../support/http.js';
import { spawnChild } from '../support/processes.js';
import { startRedis } from '../support/redis-server.js';
import { requireBinary } from '../support/require-binary.js';
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

describe('the rights in docs/operations.md are enough', () => {
  const lines = codeBlocks(read('operations.md'), 'acl').map((text) =>
    text.trim().replace(/^ACL SETUSER /, ''),
  );
  const cases = [
    ['sweep by script', 'sweep'],
    ['sweep by commands', 'sweep'],
    ['held keys', 'held'],
  ] as const;

  it('there are three', () => expect(lines).toHaveLength(cases.length));

  it.each(cases.map(([name, mode], index) => [name, mode, lines[index] ?? ''] as const))(
    '%s',
    async (_, mode, line) => {
      const redis = await startRedis({ acl: [line.replace('>PASSWORD', '>secret')] });
      undo.push(() => redis.stop());
      await redis.client().set('lock:stock:1', 'token', 'PX', 60_000);
      await redis.client().set('private', 'x');
      const url = `redis://exporter:secret@127.0.0.1:${redis.port}`;
      const exporter = await start(
        '--redis-url',
        url,
        '--sample-mode',
        mode,
        '--sample-schedule',
        '* * * * * *',
      );
      await httpPost(`${exporter.localUrl}/v1/events`, grantOf('lock:stock:1'));
      await waitFor(async () => (await exporter.value('redis_lock_keys', { resource: 'stock' })) === 1, {
        what: 'the lock to be seen',
        timeoutMs: 15_000,
      });
      expect(await exporter.value('redis_lock_up')).toBe(1);
      expect(await exporter.value('redis_lock_sample_errors_total')).toBe(0);
    },
  );
});

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
