import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/redis-server.js';
import { processExists } from '../../support/signal-process.js';
import { waitFor } from '../../support/wait-for.js';

const running: RedisServer[] = [];

async function redis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  running.push(server);
  return server;
}

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

describe('startRedis', () => {
  it('serves at once, and stop() closes connections, process and folder', async () => {
    const server = await redis({ unixSocket: true });
    const client = server.client();
    expect(await client.set('a', '1')).toBe('OK');
    expect(await client.info('server')).toContain(`process_id:${server.pid}`);
    const ended = new Promise((resolve) => client.once('end', resolve));
    const folder = dirname(server.unixSocket ?? '');
    await server.stop();
    await ended;
    expect(existsSync(folder)).toBe(false);
    expect(processExists(server.pid)).toBe(false);
    await server.stop();
  });

  it('listens on a unix socket too', async () => {
    const server = await redis({ unixSocket: true });
    const client = server.client({ path: server.unixSocket ?? '' });
    expect(await client.ping()).toBe('PONG');
  });

  it('asks for the password, and knows ACL users after a restart too', async () => {
    const server = await redis({ password: 'p@ss:w/o#r%d', acl: ['app on >secret ~lock:* +@all'] });
    expect(await server.client().set('free', '1')).toBe('OK');
    await server.restart();
    const app = server.client({ username: 'app', password: 'secret' });
    expect(await app.set('lock:a', '1')).toBe('OK');
    await expect(app.set('other', '1')).rejects.toThrow('NOPERM');
    expect(server.url).toContain(encodeURIComponent('p@ss:w/o#r%d'));
  });

  it('comes back empty on the same port, and clients find it again', async () => {
    const server = await redis();
    const client = server.client({ retryStrategy: () => 10 });
    await client.set('a', '1');
    const { pid } = server;
    expect(await server.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await client.get('a')).toBeNull();
  });

  it('stands still between pause() and resume()', async () => {
    const server = await redis();
    const client = server.client({ commandTimeout: 50 });
    await client.set('a', '1');
    await server.pause();
    await expect(client.get('a')).rejects.toThrow('Command timed out');
    await server.resume();
    expect(await waitFor(() => client.get('a'), { what: 'the resumed server to answer' })).toBe('1');
  });

  it('can be stopped while it is paused', async () => {
    const server = await redis();
    await server.pause();
    await server.stop();
    expect(processExists(server.pid)).toBe(false);
  });

  it('says why a server did not start', async () => {
    await expect(redis({ args: ['--no-such-option', '1'] })).rejects.toThrow(
      /did not start[\s\S]*no-such-option/,
    );
  });
});
