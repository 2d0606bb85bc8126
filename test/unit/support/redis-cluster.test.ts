import { describe, expect, it } from 'vitest';
import { startCluster } from '../../support/redis-cluster.js';

describe('startCluster', () => {
  it('covers all slots at once, and a client and every node follow them', async () => {
    const cluster = await startCluster({ masters: 3 });
    const client = cluster.client();
    for (let index = 0; index < 30; index += 1) expect(await client.set(`key:${index}`, '1')).toBe('OK');
    const sizes = await Promise.all(cluster.masters.map((node) => node.client().dbsize()));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(30);
    expect(sizes.every((size) => size > 0)).toBe(true);
    const answers = await Promise.allSettled(cluster.masters.map((node) => node.client().get('key:1')));
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused.map((answer) => String((answer as PromiseRejectedResult).reason))).toEqual([
      expect.stringContaining('MOVED'),
      expect.stringContaining('MOVED'),
    ]);
    await cluster.stop();
    await cluster.stop();
  });

  it('gives each master its replicas', async () => {
    const cluster = await startCluster({ masters: 1, replicasPerMaster: 1 });
    const [replica] = cluster.replicas;
    expect((await replica?.client().role())?.slice(0, 3)).toEqual([
      'slave',
      '127.0.0.1',
      cluster.masters[0]?.port,
    ]);
    await cluster.stop();
  });
});
