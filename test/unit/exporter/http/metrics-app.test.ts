import { describe, expect, it } from 'vitest';
import { refusalSchema } from '../../../../contract/batch.js';
import { httpGet, httpSend } from '../../../support/http.js';
import { waitFor } from '../../../support/wait-for.js';
import { closeAfterEach, openRaw, pieces, serveMetrics } from './http-bench.js';

closeAfterEach();

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const boom = new Error('boom at /srv/secret.ts');

describe('/metrics', () => {
  it('is the page, piece after piece', async () => {
    const served = await serveMetrics();
    const answer = await httpGet(`${served.url}/metrics`);
    expect(answer.body).toBe('# TYPE a gauge\na 1\n');
    expect(answer.headers['x-powered-by']).toBeUndefined();
  });

  it.each([
    'text/plain;version=0.0.4',
    'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5',
    '*/*',
    'text/html',
    'application/json',
  ])('has its own type for a client that accepts %s, by GET and HEAD', async (accept) => {
    const served = await serveMetrics();
    const headers = { accept, 'accept-encoding': 'gzip' };
    for (const method of ['GET', 'HEAD']) {
      const answer = await httpSend(method, `${served.url}/metrics`, undefined, { headers });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, TYPE]);
      expect(answer.headers['content-encoding']).toBeUndefined();
    }
  });

  it.each([
    { 'if-none-match': '*' },
    { 'if-none-match': '"x"' },
    { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
  ])('is never "not modified": %o', async (headers) => {
    const served = await serveMetrics();
    const answer = await httpGet(`${served.url}/metrics`, { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.etag).toBeUndefined();
    expect(answer.headers['last-modified']).toBeUndefined();
  });

  it('takes parameters and ignores them', async () => {
    const served = await serveMetrics();
    expect((await httpGet(`${served.url}/metrics?a=1&a[b]=2&%ff`)).status).toBe(200);
  });

  it('arrives whole when it is larger than what the socket takes at once', async () => {
    const big = Array.from({ length: 50 }, (_, n) => `${n}${'x'.repeat(200_000)}\n`);
    const served = await serveMetrics({ renderMetrics: () => pieces(...big) });
    expect((await httpGet(`${served.url}/metrics`)).body).toBe(big.join(''));
  });

  it.each([
    ['at the call', () => thrower()],
    ['before the first piece', () => failing()],
  ])('that fails %s is a 500 without an inside view', async (_, renderMetrics) => {
    const served = await serveMetrics({ renderMetrics });
    const answer = await httpGet(`${served.url}/metrics`);
    expect(answer.status).toBe(500);
    expect(refusalSchema.parse(JSON.parse(answer.body)).error.id).toBe('internal');
    expect(answer.body).not.toMatch(/boom|secret/);
    expect(served.faults).toEqual([boom]);
  });

  it('that fails half-way is cut off, so that nobody takes a half for the whole', async () => {
    const served = await serveMetrics({ renderMetrics: () => failing('a 1\n') });
    await expect(httpGet(`${served.url}/metrics`)).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    expect(served.faults).toEqual([boom]);
    expect((await httpGet(`${served.url}/-/healthy`)).status).toBe(200);
  });

  it('is abandoned when the client goes away, and its place is free again', async () => {
    let begun = 0;
    let hang = true;
    async function* render(): AsyncGenerator<string> {
      begun += 1;
      yield 'a 1\n';
      if (hang) await new Promise<void>(() => {});
    }
    const served = await serveMetrics({ renderMetrics: render });
    const hanging = Array.from({ length: 16 }, () => openRaw(served.port));
    for (const { socket } of hanging) socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    await waitFor(() => begun === 16, { what: 'sixteen scrapes' });
    const refused = await httpGet(`${served.url}/metrics`);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(served.refusals).toEqual(['overloaded']);
    for (const { socket } of hanging) socket.destroy();
    hang = false;
    await waitFor(async () => (await httpGet(`${served.url}/metrics`)).status === 200, {
      what: 'a free place',
    });
    expect(served.faults).toEqual([]);
  });
});

describe('health', () => {
  it('is told to any Host, for a kubelet asks by address', async () => {
    const served = await serveMetrics();
    const answer = await httpGet(`${served.url}/-/healthy`, { headers: { host: '10.1.2.3:9722' } });
    expect([answer.status, answer.body]).toEqual([200, 'healthy\n']);
  });

  it('readiness follows the process', async () => {
    let ready = false;
    const served = await serveMetrics({ isReady: () => ready });
    expect((await httpGet(`${served.url}/-/ready`)).status).toBe(503);
    ready = true;
    expect((await httpGet(`${served.url}/-/ready`)).status).toBe(200);
    expect((await httpSend('HEAD', `${served.url}/-/ready`, undefined)).status).toBe(200);
  });
});

describe('nothing else is served', () => {
  it.each([
    ['GET', '/', 404],
    ['GET', '/metric', 404],
    ['GET', '/metrics/', 404],
    ['POST', '/v1/events', 404],
    ['GET', '/api/v1/status', 404],
    ['POST', '/metrics', 405],
    ['DELETE', '/-/healthy', 405],
  ])('%s %s: %i, in JSON', async (method, path, status) => {
    const served = await serveMetrics();
    const answer = await httpSend(method, served.url + path, undefined);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { id } = refusalSchema.parse(JSON.parse(answer.body)).error;
    expect(served.refusals).toEqual([id]);
  });

  it('a wrong path is told the right ones', async () => {
    const answer = await httpGet(`${(await serveMetrics()).url}/metric`);
    expect(refusalSchema.parse(JSON.parse(answer.body)).error.message).toBe(
      'There is nothing at this path; this listener has /metrics, /-/healthy, /-/ready',
    );
  });
});

function thrower(): AsyncIterable<string> {
  throw boom;
}

async function* failing(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
  throw boom;
}
