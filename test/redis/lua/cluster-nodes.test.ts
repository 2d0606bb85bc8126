import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FENCE_MARKER, fenceKey } from '../../../lua/fence-key.js';
import { keySlot } from '../../../lua/key-slot.js';
import { loadLockScripts, type SampleArgs } from '../../../lua/scripts.js';
import { type RedisCluster, startCluster } from '../../support/redis-cluster.js';
import type { RedisServer } from '../../support/redis-server.js';
import { copyKeys } from '../../support/sampled-keys.js';
import { bindScripts, makeLock } from './lock-store.js';

const args: SampleArgs = {
  cursor: '0',
  pattern: 'lock:*',
  count: 1000,
  prefixes: [],
  withOwners: true,
  maxValueBytes: 1024,
};

describe('a cluster of three masters', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.stop());

  const master = (at: number): RedisServer => {
    const found = cluster.masters[at];
    if (!found) throw new Error(`there is no master ${at}`);
    return found;
  };

  it('computes the slots that keySlot() does, for every name', async () => {
    const redis = master(0).client();
    const names = ['a', '{t}:a', 'a{}b', 'a{}b}', '{}{x}', '{', '}{', '}', 'a{b}{c}', '{{a}}', 'ключ', ''];
    for (const name of [...names.map((text) => Buffer.from(text)), Buffer.from([0x7b, 0xff, 0x7d, 0])]) {
      const slots = await Promise.all(
        [name, fenceKey(name)].map((key) => redis.cluster('KEYSLOT', key as unknown as string)),
      );
      expect(slots).toEqual([keySlot(name), keySlot(name)]);
    }
  });

  it('knows no script after SCRIPT FLUSH: each node gets the text once', async () => {
    const redis = cluster.client();
    const run = bindScripts(redis);
    const locks = Array.from({ length: 30 }, () => makeLock());
    for (const lock of locks) await run.acquire(lock.mine);
    await Promise.all(cluster.masters.map((node) => node.client().script('FLUSH')));
    for (const lock of locks) expect(await run.release(lock.mine)).toMatchObject({ word: 'released' });
  });

  it('surfaces a fence key in another slot as CROSSSLOT at once', async () => {
    const run = bindScripts(cluster.client());
    const misplaced = { ...makeLock('lock:a').mine, fenceKey: `${FENCE_MARKER}{lock:b}` };
    await expect(run.acquire(misplaced)).rejects.toThrow(/^CROSSSLOT/);
  });

  it('with a keyPrefix that is a hash tag holds lock and fence in one slot', async () => {
    const run = bindScripts(cluster.client({ keyPrefix: '{app}:' }));
    const fence = fenceKey('{app}:lock:{x}', '{app}:');
    expect(await run.acquire({ ...makeLock('lock:{x}').mine, fenceKey: fence })).toMatchObject({
      word: 'granted',
    });
  });

  it('is sampled node by node, and no lock is missed', async () => {
    const run = bindScripts(cluster.client());
    const locks = Array.from({ length: 60 }, (_, at) => makeLock(`lock:sampled:${at}`));
    for (const lock of locks) await run.acquire(lock.mine);
    const samples = await Promise.all(
      cluster.masters.map((node) =>
        loadLockScripts().sample(node.client(), { ...args, pattern: 'lock:sampled:*' }),
      ),
    );
    const seen = samples.flatMap(copyKeys).map(({ key }) => key.toString());
    expect(seen.sort()).toEqual(locks.map(({ key }) => key.toString()).sort());
    expect(samples.every(({ keys }) => keys.length > 0)).toBe(true);
  });

  it('counts a key that a node lists while its slot is still another’s', async () => {
    const importer = master(0).client();
    const owner = master(1).client();
    const name = Array.from({ length: 50 }, (_, at) => `lock:moving:${at}`).find((key) => {
      const slot = keySlot(Buffer.from(key));
      return slot > 6000 && slot < 10_000;
    });
    if (name === undefined) throw new Error('no name falls to the second master');
    await importer.cluster('SETSLOT', keySlot(Buffer.from(name)), 'IMPORTING', await owner.cluster('MYID'));
    await importer.pipeline().call('ASKING').set(name, 'x').exec();
    const sample = await loadLockScripts().sample(importer, { ...args, pattern: 'lock:moving:*' });
    expect(sample).toMatchObject({ moved: 1, vanished: 0 });
    expect(copyKeys(sample)).toEqual([]);
  });
});
