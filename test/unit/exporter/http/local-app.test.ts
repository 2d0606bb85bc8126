import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EVENTS_PATH, MAX_BODY_BYTES, refusalSchema } from '../../../../contract/batch.js';
import { FakeClock } from '../../../support/clocks.js';
import { type HttpAnswer, type HttpOptions, httpGet, httpPost, httpSend } from '../../../support/http.js';
import { makeTempDir } from '../../../support/temp-dir.js';
import { waitFor } from '../../../support/wait-for.js';
import {
  ANSWER,
  closeAfterEach,
  openRaw,
  type RawConnection,
  type Served,
  serveLocal,
} from './http-bench.js';

closeAfterEach();

const post = (served: Served, body: object | string | Buffer, options?: HttpOptions) =>
  httpPost(served.url + EVENTS_PATH, body, options);

/** The refusal in an answer, which must be JSON in the shape of the contract. */
function refusalOf(answer: HttpAnswer) {
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  return { status: answer.status, ...refusalSchema.parse(JSON.parse(answer.body)).error };
}

describe('a batch', () => {
  it('is handed on as it was sent, and its answer goes back', async () => {
    const served = await serveLocal();
    const answer = await post(served, { v: 1, text: 'é𝄞' });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, ANSWER]);
    expect(served.bodies).toEqual([{ v: 1, text: 'é𝄞' }]);
    expect(served.results).toEqual([]);
  });

  it('may be gzipped', async () => {
    const served = await serveLocal();
    const answer = await post(served, gzipSync('{"v":1}'), { headers: { 'content-encoding': 'gzip' } });
    expect(answer.status).toBe(200);
    expect(served.bodies).toEqual([{ v: 1 }]);
  });

  it('is refused in the words of whoever receives it', async () => {
    const refusal = { error: { id: 'wrong_store', message: 'not here' } } as const;
    const served = await serveLocal({ receiveBatch: () => ({ status: 400, refusal }) });
    expect(refusalOf(await post(served, {}))).toEqual({
      status: 400,
      id: 'wrong_store',
      message: 'not here',
    });
  });

  it('leaves the connection open for the next one', async () => {
    const served = await serveLocal();
    const answer = await post(served, {}, { headers: { connection: 'keep-alive' } });
    expect(answer.headers.connection).toBe('keep-alive');
  });

  it('names that every object has by its prototype change nothing', async () => {
    const served = await serveLocal();
    await post(served, '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

describe('a body that cannot be read', () => {
  it.each([
    ['broken JSON', '{"v":1', 'bad_json', 400],
    ['no body', '', 'bad_json', 400],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'bad_json', 400],
    ['a secret in broken JSON', '{"token":tok-3f9c}', 'bad_json', 400],
  ])('%s', async (_, body, id, status) => {
    const served = await serveLocal();
    const answer = await post(served, body);
    expect(refusalOf(answer)).toMatchObject({ status, id });
    expect(answer.body).not.toContain('tok-3f9c');
    expect(served.results).toEqual([id]);
    expect(served.bodies).toEqual([]);
  });

  it('cut off gzip', async () => {
    const served = await serveLocal();
    const body = gzipSync('{"v":1}').subarray(0, 15);
    const answer = await post(served, body, { headers: { 'content-encoding': 'gzip' } });
    expect(refusalOf(answer)).toMatchObject({ status: 400, id: 'bad_json' });
  });

  it.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/x-www-form-urlencoded' }],
    [{ 'content-type': 'multipart/form-data; boundary=x' }],
    [{ 'content-type': 'application/json; charset=latin1' }],
    [{ 'content-type': 'text/plain; application/json' }],
    [{ 'content-type': '' }],
    [{ 'content-encoding': 'br' }],
    [{ 'content-encoding': 'gzip, gzip' }],
  ])('%o is another media type', async (headers) => {
    const served = await serveLocal();
    expect(refusalOf(await post(served, '{}', { headers }))).toMatchObject({ status: 415 });
    expect(served.results).toEqual(['unsupported_media_type']);
  });

  it.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])(
    '%s is JSON',
    async (type) => {
      const served = await serveLocal();
      expect((await post(served, '{}', { headers: { 'content-type': type } })).status).toBe(200);
    },
  );
});

describe('a body that is too large', () => {
  const spaces = (bytes: number) => Buffer.alloc(bytes, ' ');

  it.each([
    ['plain', spaces(5 * MAX_BODY_BYTES), {}],
    ['by one byte', spaces(MAX_BODY_BYTES + 1), {}],
    ['once inflated', gzipSync(spaces(50 * MAX_BODY_BYTES)), { 'content-encoding': 'gzip' }],
  ])('%s', async (_, body, headers) => {
    const served = await serveLocal();
    const answer = await post(served, body, { headers });
    expect(refusalOf(answer)).toMatchObject({ status: 413, id: 'too_large' });
    expect(served.results).toEqual(['too_large']);
    expect(served.bodies).toEqual([]);
  });

  it('the limit itself is not', async () => {
    const served = await serveLocal();
    const body = Buffer.concat([Buffer.from('{}'), spaces(MAX_BODY_BYTES - 2)]);
    expect((await post(served, body)).status).toBe(200);
  });

  it('and endless: it is answered, and the connection closed', async () => {
    const served = await serveLocal();
    const { socket, closed } = openRaw(served.port);
    socket.write(chunkedHead(served.port));
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
    expect(await closed).toMatch(/^HTTP\/1.1 413 [\s\S]*connection: close[\s\S]*"id":"too_large"/i);
  });

  it('from a client that reads no answer before it has sent all: it still sees why', async () => {
    const served = await serveLocal();
    const { socket, closed } = openRaw(served.port);
    socket.pause();
    const size = 5 * MAX_BODY_BYTES;
    const head = chunkedHead(served.port).replace('Transfer-Encoding: chunked', `Content-Length: ${size}`);
    await new Promise((resolve) => socket.write(Buffer.concat([Buffer.from(head), spaces(size)]), resolve));
    socket.resume();
    expect(await closed).toMatch(/^HTTP\/1.1 413 /);
  });

  it('a hundred at once leave memory alone, and another’s batch is still taken', async () => {
    const served = await serveLocal();
    const bomb = gzipSync(spaces(50 * MAX_BODY_BYTES));
    const before = process.memoryUsage.rss();
    const bombs = Array.from({ length: 100 }, () =>
      post(served, bomb, { headers: { 'content-encoding': 'gzip' } }),
    );
    const statuses = new Set((await Promise.all(bombs)).map((answer) => answer.status));
    expect([...statuses].sort()).toEqual(expect.arrayContaining([413]));
    expect([...statuses].every((status) => status === 413 || status === 503)).toBe(true);
    expect((await post(served, {})).status).toBe(200);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * MAX_BODY_BYTES);
  });
});

describe('who may come in', () => {
  it.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST:80', '127.0.0.1:1'])('Host %s', async (host) => {
    const served = await serveLocal();
    expect((await post(served, {}, { headers: { host } })).status).toBe(200);
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'evil.example:9723',
  ])('not Host "%s": a name that was pointed at this machine', async (host) => {
    const served = await serveLocal();
    expect(refusalOf(await post(served, {}, { headers: { host } }))).toMatchObject({
      status: 403,
      id: 'forbidden',
    });
    expect(served.results).toEqual(['forbidden']);
  });

  it('not without a Host', async () => {
    const served = await serveLocal();
    const { socket, closed } = openRaw(served.port);
    socket.write('GET /api/v1/status HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(await closed).toMatch(/^HTTP\/1.1 403 /);
  });

  it.each(['http://evil.example', 'null', 'http://localhost:3000', 'http://127.0.0.1'])(
    'not a page of Origin %s',
    async (origin) => {
      const served = await serveLocal();
      expect(refusalOf(await post(served, {}, { headers: { origin } }))).toMatchObject({ status: 403 });
      expect(refusalOf(await httpGet(`${served.url}/api/v1/status`, { headers: { origin } })).status).toBe(
        403,
      );
    },
  );

  it('a page of its own', async () => {
    const served = await serveLocal();
    expect((await post(served, {}, { headers: { origin: served.url } })).status).toBe(200);
  });

  it('on a unix socket any Host', async () => {
    const folder = makeTempDir('http');
    const unixSocket = `${folder.path}/s`;
    await serveLocal({}, { kind: 'unix', path: unixSocket });
    const answer = await httpPost(`http://any.example${EVENTS_PATH}`, {}, { unixSocket });
    folder.remove();
    expect(answer.status).toBe(200);
  });

  it('no preflight is answered with leave', async () => {
    const served = await serveLocal();
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' };
    const answer = await httpSend('OPTIONS', served.url + EVENTS_PATH, undefined, { headers });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('with tokens', () => {
  const tokens = () => ['first-token', 'second-token'];
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  it.each(['first-token', 'second-token'])('%s opens the door', async (token) => {
    const served = await serveLocal({ tokens });
    expect((await post(served, {}, bearer(token))).status).toBe(200);
  });

  it.each([
    ['none', {}],
    ['a wrong one', bearer('third-token')],
    ['the beginning of one', bearer('first-toke')],
    ['an empty one', bearer('')],
    ['another scheme', { headers: { authorization: 'Basic first-token' } }],
  ])('%s does not', async (_, options) => {
    const served = await serveLocal({ tokens });
    const answer = await post(served, {}, options);
    expect(refusalOf(answer)).toMatchObject({ status: 401, id: 'unauthorized' });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.body).not.toContain('token"');
    expect(served.results).toEqual(['unauthorized']);
    expect((await httpGet(`${served.url}/api/v1/locks`, options)).status).toBe(401);
  });

  it('a list that is empty keeps everybody out', async () => {
    const served = await serveLocal({ tokens: () => [] });
    expect((await post(served, {}, bearer(''))).status).toBe(401);
  });

  it('an empty token in the list opens to nobody', async () => {
    const served = await serveLocal({ tokens: () => [''] });
    for (const options of [bearer(''), {}]) expect((await post(served, {}, options)).status).toBe(401);
  });

  it('the list is read anew each time', async () => {
    let valid = ['old'];
    const served = await serveLocal({ tokens: () => valid });
    valid = ['new'];
    expect((await post(served, {}, bearer('old'))).status).toBe(401);
    expect((await post(served, {}, bearer('new'))).status).toBe(200);
  });
});

describe('too many batches at a time', () => {
  it('are refused at once, and the place of one that went away is free again', async () => {
    const served = await serveLocal({ limits: { maxBatches: 1 } });
    const slow = openRaw(served.port);
    slow.socket.write(`${chunkedHead(served.port)}1\r\n{\r\n`);
    const refused = await waitFor(
      async () => {
        const answer = await post(served, {});
        return answer.status === 503 ? answer : undefined;
      },
      { what: 'a refusal' },
    );
    expect(refusalOf(refused).id).toBe('overloaded');
    expect(refused.headers['retry-after']).toBe('1');
    slow.socket.destroy();
    await waitFor(async () => (await post(served, {})).status === 200, { what: 'a free place' });
    expect(served.results).toContain('overloaded');
    expect(served.results).toContain('aborted');
  });
});

describe('more large batches at a time than there is room for', () => {
  /** Tells of a body of 1 MB and sends its first byte. */
  function beginLarge(port: number): RawConnection {
    const raw = openRaw(port);
    const head = ['POST /v1/events HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Content-Type: application/json'];
    raw.socket.write(`${[...head, 'Content-Length: 1000000'].join('\r\n')}\r\n\r\n{`);
    return raw;
  }
  const large = { events: 'x'.repeat(500_000) };

  it('wait, small ones do not, and none waits for one that went away', async () => {
    const served = await serveLocal({ clock: new FakeClock() });
    const first = Array.from({ length: 4 }, () => beginLarge(served.port));
    const waiting = beginLarge(served.port);
    await waitFor(async () => (await post(served, {})).status === 200, { what: 'a small batch' });
    const late = post(served, large);
    waiting.socket.destroy();
    await post(served, {});
    expect(served.bodies).not.toContainEqual(large);
    for (const { socket } of first) socket.destroy();
    expect((await late).status).toBe(200);
    expect(served.bodies).toContainEqual(large);
    await waitFor(() => served.results.filter((result) => result === 'aborted').length === 5, {
      what: 'all that went away, the one that waited too',
    });
  });
});

describe('while the exporter ends', () => {
  it('everything is refused with 503', async () => {
    const served = await serveLocal({ isClosing: () => true });
    const answer = await post(served, {});
    expect(refusalOf(answer)).toMatchObject({ status: 503, id: 'shutting_down' });
    expect(answer.headers['retry-after']).toBe('1');
    expect((await httpGet(`${served.url}/api/v1/status`)).status).toBe(503);
    expect(served.results).toEqual(['shutting_down']);
    expect(served.refusals).toEqual(['shutting_down']);
  });
});

describe('the API', () => {
  it('shows the status', async () => {
    const served = await serveLocal({ status: () => Promise.resolve({ store: 'orders' }) });
    const answer = await httpGet(`${served.url}/api/v1/status`, { headers: { 'if-none-match': '*' } });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { store: 'orders' }]);
    expect(answer.headers.etag).toBeUndefined();
    expect(answer.headers['x-powered-by']).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['', { limit: 100 }],
    ['?limit=5', { limit: 5 }],
    ['?resource=__proto__&limit=1000', { resource: '__proto__', limit: 1000 }],
    ['?resource=a%22b%0A', { resource: 'a"b\n', limit: 100 }],
  ])('passes on what locks are asked for: "%s"', async (query, expected) => {
    const served = await serveLocal();
    const answer = await httpGet(`${served.url}/api/v1/locks${query}`);
    expect(JSON.parse(answer.body)).toEqual({ query: expected });
  });

  it.each([
    '?limit=0',
    '?limit=1001',
    '?limit=-1',
    '?limit=x',
    '?limit=1&limit=2',
    '?resource=a&resource=b',
    '?x=1',
    '?limit=',
  ])('refuses a query that it cannot read: %s', async (query) => {
    const served = await serveLocal();
    expect(refusalOf(await httpGet(`${served.url}/api/v1/locks${query}`))).toMatchObject({
      status: 400,
      id: 'bad_query',
    });
    expect(served.refusals).toEqual(['bad_query']);
  });

  it.each([
    ['GET', EVENTS_PATH, 405],
    ['PUT', EVENTS_PATH, 405],
    ['POST', '/api/v1/status', 405],
    ['DELETE', '/api/v1/locks', 405],
    ['GET', '/', 404],
    ['POST', '/v1/events/', 404],
    ['GET', '/V1/EVENTS', 404],
    ['GET', '/metrics', 404],
    ['GET', '/api/v1/%ff', 404],
    ['GET', '/../etc/passwd', 404],
  ])('%s %s: %i, in JSON', async (method, path, status) => {
    const served = await serveLocal();
    expect(refusalOf(await httpSend(method, served.url + path, undefined)).status).toBe(status);
  });
});

describe('a handed function that throws', () => {
  const boom = new Error('boom at /srv/secret.ts');
  const fail = () => {
    throw boom;
  };

  it.each([
    ['receiveBatch', { receiveBatch: fail }, 'POST', EVENTS_PATH],
    ['status', { status: fail }, 'GET', '/api/v1/status'],
    ['status, later', { status: () => Promise.reject(boom) }, 'GET', '/api/v1/status'],
    ['locks', { locks: fail }, 'GET', '/api/v1/locks'],
    ['tokens', { tokens: fail }, 'GET', '/api/v1/locks'],
    ['isClosing', { isClosing: fail }, 'GET', '/api/v1/locks'],
  ])('%s: 500 without an inside view, reported, and the process goes on', async (_, change, method, path) => {
    const served = await serveLocal(change);
    const headers = { 'content-type': 'application/json' };
    const answer = await httpSend(method, served.url + path, method === 'POST' ? '{}' : undefined, {
      headers,
    });
    expect(refusalOf(answer)).toMatchObject({ status: 500, id: 'internal' });
    expect(answer.body).not.toMatch(/boom|secret|\.ts/);
    expect(served.faults).toEqual([boom]);
    expect((await httpGet(`${served.url}/nothing`)).status).toBeGreaterThanOrEqual(404);
  });

  it('a status that is no JSON: 500', async () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    const served = await serveLocal({ status: () => loop });
    expect(refusalOf(await httpGet(`${served.url}/api/v1/status`)).status).toBe(500);
  });
});

function chunkedHead(port: number): string {
  const headers = [
    `POST ${EVENTS_PATH} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ];
  return `${headers.join('\r\n')}\r\n\r\n`;
}
