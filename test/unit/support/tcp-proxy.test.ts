import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { httpGet } from '../../support/http.js';
import { isCommand } from '../../support/proxy-rules.js';
import { type ClientOptions, type RedisServer, startRedis } from '../../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';

let server: RedisServer;
let proxy: TcpProxy;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.client().flushall();
  proxy = await startTcpProxy({ target: { port: server.port } });
});
afterEach(() => proxy.stop());

async function readyClient(options: ClientOptions = {}): Promise<Redis> {
  const client = server.client({ port: proxy.port, ...options });
  await client.ping();
  return client;
}

describe('a proxy in front of Redis', () => {
  it('passes everything on and counts requests, pipelined ones too', async () => {
    const client = await readyClient();
    const before = proxy.forwarded;
    const replies = await client.pipeline().set('a', 'x'.repeat(100_000)).get('a').strlen('a').exec();
    expect(replies?.map(([error]) => error)).toEqual([null, null, null]);
    expect(replies?.[2]?.[1]).toBe(100_000);
    expect(proxy.forwarded - before).toBe(3);
    expect(proxy.received).toBe(proxy.forwarded);
    expect(proxy.connections).toBe(1);
  });

  it('cuts after a request: the command fails although the key is set', async () => {
    const client = await readyClient({ retryStrategy: () => null });
    const cut = proxy.cutAfterRequest({ matches: isCommand('set'), nth: 2 });
    expect(await client.set('first', '1')).toBe('OK');
    await expect(client.set('second', '1')).rejects.toThrow('Connection is closed');
    await cut;
    expect(await server.client().get('second')).toBe('1');
  });

  it('cuts after a request: ioredis resends, and SET NX answers null to its own token', async () => {
    const client = await readyClient({ retryStrategy: () => 1 });
    const cut = proxy.cutAfterRequest({ matches: isCommand('set') });
    expect(await client.set('lock:a', 'token', 'PX', 30_000, 'NX')).toBeNull();
    await cut;
    expect(await client.get('lock:a')).toBe('token');
  });

  it('cuts at the next reply', async () => {
    const client = await readyClient({ retryStrategy: () => null });
    const cut = proxy.cutAtNextReply();
    await expect(client.set('a', '1')).rejects.toThrow('Connection is closed');
    await cut;
    expect(await server.client().get('a')).toBe('1');
  });

  it('holds requests: they are seen but not executed until released', async () => {
    const client = await readyClient();
    proxy.holdRequests();
    const seen = proxy.request({ matches: isCommand('set') });
    const reply = client.set('a', '1');
    expect((await seen).args.map(String)).toEqual(['set', 'a', '1']);
    expect(await server.client().exists('a')).toBe(0);
    expect(proxy.received - proxy.forwarded).toBe(1);
    proxy.releaseRequests();
    expect(await reply).toBe('OK');
  });

  it('holds replies: the command is executed, its answer waits', async () => {
    const client = await readyClient();
    proxy.holdReplies();
    let answered = false;
    const reply = client.incr('a').finally(() => {
      answered = true;
    });
    await proxy.request({ matches: isCommand('incr') });
    expect(await server.client().incr('a')).toBe(2);
    expect(answered).toBe(false);
    proxy.releaseReplies();
    expect(await reply).toBe(1);
  });

  it('delays replies and requests', async () => {
    const client = await readyClient();
    proxy.delayReplies(60);
    proxy.delayRequests(40);
    const start = performance.now();
    await client.ping();
    expect(performance.now() - start).toBeGreaterThanOrEqual(99);
  });

  it('drops one reply: the client never hears of it', async () => {
    const client = await readyClient({ commandTimeout: 60 });
    const dropped = proxy.dropNextReply();
    await expect(client.set('a', '1')).rejects.toThrow('Command timed out');
    expect(String(await dropped)).toBe('+OK\r\n');
    expect(await server.client().get('a')).toBe('1');
  });

  it('black-holes a connection that stays open', async () => {
    const client = await readyClient({ commandTimeout: 60 });
    proxy.blackHole();
    await expect(client.set('a', '1')).rejects.toThrow('Command timed out');
    expect(client.status).toBe('ready');
    expect(await server.client().exists('a')).toBe(0);
  });

  it('refuses new connections, keeps old ones, and accepts again on the same port', async () => {
    const old = await readyClient();
    proxy.refuse();
    const late = server.client({ port: proxy.port, retryStrategy: () => null, lazyConnect: true });
    const errors: string[] = [];
    late.on('error', (error) => errors.push(String(error)));
    await expect(late.connect()).rejects.toThrow('Connection is closed');
    expect(errors.join()).toContain('ECONNREFUSED');
    expect(await old.ping()).toBe('PONG');
    await proxy.accept();
    expect(await (await readyClient()).ping()).toBe('PONG');
  });

  it('cuts all connections at once', async () => {
    const client = await readyClient({ retryStrategy: () => null });
    const ended = new Promise((resolve) => client.once('end', resolve));
    proxy.cutAll();
    await ended;
  });
});

describe('a raw proxy', () => {
  it('carries HTTP and cuts after a request was served', async () => {
    let served = 0;
    const web = createServer((_request, response) => {
      served += 1;
      response.end('hello');
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    const raw = await startTcpProxy({ target: { port }, framing: 'raw' });
    const url = `http://127.0.0.1:${raw.port}/`;
    expect((await httpGet(url)).body).toBe('hello');
    const cut = raw.cutAfterRequest();
    await expect(httpGet(url)).rejects.toThrow('socket hang up');
    await cut;
    expect([served, raw.forwarded]).toEqual([2, 2]);
    await raw.stop();
    await new Promise((resolve) => web.close(resolve));
  });
});
