import { describe, expect, it } from 'vitest';
import { startSentinel } from '../../support/redis-sentinel.js';
import { waitFor } from '../../support/wait-for.js';

describe('startSentinel', () => {
  it('fails over on command, and a client follows', async () => {
    const setup = await startSentinel({ replicas: 2, sentinels: 1 });
    const client = setup.client();
    const [first] = setup.servers;
    expect(await setup.master()).toBe(first);
    await client.set('a', '1');
    const second = await setup.failover('command');
    expect(second).not.toBe(first);
    const write = () => client.set('b', '1').catch(() => undefined);
    await waitFor(write, { what: 'the client to write to the new master' });
    expect((await second.client().role())[0]).toBe('master');
    await setup.stop();
  });

  it('has a majority of three sentinels promote after a kill', async () => {
    const setup = await startSentinel({ replicas: 1, sentinels: 3, masterName: 'locks' });
    expect(setup.sentinels).toHaveLength(3);
    const old = await setup.master();
    const promoted = await setup.failover('kill');
    expect(promoted).not.toBe(old);
    expect(await promoted.client().set('a', '1')).toBe('OK');
    await setup.stop();
    await setup.stop();
  });
});
