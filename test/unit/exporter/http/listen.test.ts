import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent, type RequestListener, request } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../contract/clock.js';
import { RedisLockError } from '../../../../contract/errors.js';
import type { ListenAddress } from '../../../../contract/listen-address.js';
import { type Listener, listen } from '../../../../exporter/http/listen.js';
import { httpGet } from '../../../support/http.js';
import { spawnChild } from '../../../support/processes.js';
import { makeTempDir, type TempDir } from '../../../support/temp-dir.js';
import { closeAfterEach, closeLater, openRaw } from './http-bench.js';

closeAfterEach();

let folder: TempDir;
beforeEach(() => {
  folder = makeTempDir('listen');
});
afterEach(() => folder.remove());

const faults: unknown[] = [];
const refusals: string[] = [];
const options = {
  clock: systemClock(),
  reportFault: (error: unknown) => faults.push(error),
  countRefusal: (reason: string) => refusals.push(reason),
};
const hello = (_: unknown, response: { end(text: string): void }) => response.end('hello');

async function open(address: ListenAddress): Promise<Listener> {
  return closeLater(await listen(hello, address, options));
}

const tcp = (host: string, port = 0): ListenAddress => ({ kind: 'tcp', host, port });
const unix = (path: string): ListenAddress => ({ kind: 'unix', path });
const portOf = (listener: Listener) => Number(new URL(`http://${listener.address}`).port);

/** Why listening failed. */
async function failure(address: ListenAddress): Promise<RedisLockError> {
  const error: unknown = await open(address).catch((reason: unknown) => reason);
  if (!(error instanceof RedisLockError)) throw new Error('it listens');
  expect(error.id).toBe('listen_failed');
  expect(error.message).not.toContain('\n');
  return error;
}

describe('a TCP address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
    ['localhost', '127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]', '[::1]'],
    ['::', '[::]', '127.0.0.1'],
    ['0.0.0.0', '0.0.0.0', '127.0.0.1'],
  ])('%s listens as %s, at a port of the system’s choice', async (host, shown, reachedBy) => {
    const listener = await open(tcp(host));
    const port = portOf(listener);
    expect(listener.address).toBe(`${shown}:${port}`);
    expect((await httpGet(`http://${reachedBy}:${port}/`)).body).toBe('hello');
  });

  it('in use: the failure names it', async () => {
    const taken = await open(tcp('127.0.0.1'));
    const { message } = await failure(tcp('127.0.0.1', portOf(taken)));
    expect(message).toContain(`Cannot listen on ${taken.address}: another process listens there`);
    expect(message).toContain('--local-listen');
  });

  it.each([
    ['192.0.2.1', 'this machine has no such address'],
    ['no-such-host.invalid', 'this host name is not known'],
  ])('%s cannot be used: %s', async (host, words) => {
    expect((await failure(tcp(host))).message).toContain(words);
  });

  it('a failure to listen is thrown, not reported as well', () => {
    expect(faults).toEqual([]);
  });
});

describe('a unix socket', () => {
  it('is for owner and group only, whatever the umask, and gone after the close', async () => {
    const path = `${folder.path}/s`;
    const before = process.umask(0);
    const listener = await open(unix(path));
    expect(process.umask(before)).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(listener.address).toBe(`unix:${path}`);
    expect((await httpGet('http://x/', { unixSocket: path })).body).toBe('hello');
    await listener.close(0);
    expect(existsSync(path)).toBe(false);
  });

  it('left behind by a killed process is replaced', async () => {
    const path = `${folder.path}/s`;
    const script = `require('net').createServer().listen(${JSON.stringify(path)},()=>console.log('up'))`;
    const child = await spawnChild(process.execPath, { args: ['-e', script] });
    await child.stdout.next(/up/);
    await child.kill('SIGKILL');
    expect(existsSync(path)).toBe(true);
    await open(unix(path));
    expect((await httpGet('http://x/', { unixSocket: path })).body).toBe('hello');
  });

  it('that somebody serves is left to him', async () => {
    const path = `${folder.path}/s`;
    await open(unix(path));
    expect((await failure(unix(path))).message).toContain('another process listens there');
    expect((await httpGet('http://x/', { unixSocket: path })).body).toBe('hello');
  });

  it('served by one who speaks another language counts as served', async () => {
    const path = `${folder.path}/s`;
    const silent = createNetServer();
    await new Promise<void>((resolve) => silent.listen(path, resolve));
    expect((await failure(unix(path))).message).toContain('another process listens there');
    await new Promise((resolve) => silent.close(resolve));
  });

  it('never takes the place of a file', async () => {
    const path = `${folder.path}/s`;
    writeFileSync(path, 'precious');
    expect((await failure(unix(path))).message).toContain('not a socket');
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it.each([
    ['too long', () => `${folder.path}/${'x'.repeat(107)}`, 'more than 107 bytes'],
    ['in a folder that is missing', () => `${folder.path}/none/s`, 'there is no folder'],
  ])('%s: one clear line', async (_, path, words) => {
    const { message } = await failure(unix(path()));
    expect(message).toContain(`unix:${path()}`);
    expect(message).toContain(words);
  });
});

describe('what is no request', () => {
  it.each([
    ['another protocol', 'SSH-2.0-x\r\n\r\n', 400, 'bad_request'],
    ['a broken header', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400, 'bad_request'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'an address that cannot be read',
      'GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      400,
      'bad_request',
    ],
    [
      'what is not expected of anybody',
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 5\r\n\r\n',
      400,
      'bad_request',
    ],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
  ])('%s is refused in JSON and counted, and the connection closed', async (_, text, status, id) => {
    refusals.length = 0;
    const { socket, closed } = openRaw(portOf(await open(tcp('127.0.0.1'))));
    socket.write(text);
    const answer = await closed;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toHaveProperty('error.id', id);
    expect(refusals).toEqual([id]);
  });
});

it('a connection beyond the limit is closed at once and counted, and the others stay', async () => {
  refusals.length = 0;
  const listener = closeLater(await listen(hello, tcp('127.0.0.1'), { ...options, maxConnections: 1 }));
  const first = openRaw(portOf(listener));
  await once(first.socket, 'connect');
  expect(await openRaw(portOf(listener)).closed).toBe('');
  expect(refusals).toEqual(['too_many_connections']);
  first.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(await first.closed).toContain('hello');
});

describe('the close', () => {
  it('lets a request under way end, takes no other, and then closes its connection', async () => {
    const arrivals = new EventEmitter();
    const slow: RequestListener = (_, response) => void arrivals.emit('one', () => response.end('late'));
    const listener = closeLater(await listen(slow, tcp('127.0.0.1'), options));
    const arrived = once(arrivals, 'one');
    const agent = new Agent({ keepAlive: true });
    const text = answerOf(portOf(listener), agent);
    const [finish] = (await arrived) as [() => void];
    const closed = listener.close(60_000);
    await expect(httpGet(`http://${listener.address}/`)).rejects.toThrow('ECONNREFUSED');
    finish();
    expect(await text).toBe('late');
    await closed;
    agent.destroy();
  });

  it('cuts off after the grace what does not end', async () => {
    const never = closeLater(await listen(() => {}, tcp('127.0.0.1'), options));
    const { socket, closed } = openRaw(portOf(never));
    await new Promise((resolve) => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n', resolve));
    await never.close(20);
    expect(await closed).toBe('');
  });

  it('does not wait for idle connections, and may be repeated', async () => {
    const listener = await open(tcp('127.0.0.1'));
    const agent = new Agent({ keepAlive: true });
    await answerOf(portOf(listener), agent);
    await Promise.all([listener.close(60_000), listener.close(0)]);
    agent.destroy();
  });

  it('an idle connection is told how long it may be used, longer than clients pause', async () => {
    const listener = await open(tcp('127.0.0.1'));
    const { socket, closed } = openRaw(portOf(listener));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await listener.close(0);
    expect(await closed).toMatch(/keep-alive: timeout=65/i);
  });
});

function answerOf(port: number, agent?: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', agent: agent ?? new Agent({ keepAlive: true }) },
      (response) => {
        response.on('data', (chunk: Buffer) => resolve(chunk.toString()));
      },
    );
    sent.once('error', reject);
    sent.end();
  });
}
