import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort, onFreePort } from '../../support/free-port.js';
import { httpGet, httpPost } from '../../support/http.js';
import { promtoolCheckMetrics } from '../../support/promtool.js';
import { makeTempDir } from '../../support/temp-dir.js';
import { waitFor, within } from '../../support/wait-for.js';

describe('waitFor', () => {
  it('returns the first truthy value', async () => {
    const values = [0, '', 'found', 'later'];
    expect(await waitFor(() => values.shift(), { what: 'a value', everyMs: 1 })).toBe('found');
  });

  it('tells what was awaited and the last value', async () => {
    const wait = waitFor(() => 0, { what: 'a miracle', timeoutMs: 5, everyMs: 1 });
    await expect(wait).rejects.toThrow('waited 5 ms for a miracle, in vain; last value: 0');
  });

  it('goes on after an error of the probe, and tells the last one', async () => {
    const fail = () => Promise.reject(new Error('not yet'));
    await expect(waitFor(fail, { what: 'a calm probe', timeoutMs: 5 })).rejects.toThrow(
      /failed last with.*not yet/,
    );
  });
});

describe('waitFor with a probe that hangs', () => {
  it('gives up in time', async () => {
    const wait = waitFor(() => new Promise(() => {}), { what: 'an answer', timeoutMs: 20 });
    await expect(wait).rejects.toThrow(/for an answer.*the probe to answer/);
  });
});

describe('within', () => {
  it('passes a result on and names what is late', async () => {
    expect(await within(Promise.resolve(1), 50, 'one')).toBe(1);
    await expect(within(new Promise(() => {}), 5, 'nothing')).rejects.toThrow('waited 5 ms for nothing');
  });
});

describe('ports and folders', () => {
  it('tries another port while the address is in use', async () => {
    const ports: number[] = [];
    const launch = async (port: number) => {
      ports.push(port);
      if (ports.length < 3) throw new Error('bind: Address already in use');
      return port;
    };
    expect(await onFreePort(launch)).toBe(ports[2]);
    await expect(onFreePort(() => Promise.reject(new Error('other')))).rejects.toThrow('other');
    expect(await freePort()).toBeGreaterThan(1023);
  });

  it('makes short folders inside that of the run', () => {
    const dir = makeTempDir('socket');
    expect(dir.path.startsWith(process.env.RLX_TEST_DIR ?? '?')).toBe(true);
    dir.remove();
    dir.remove();
    expect(existsSync(dir.path)).toBe(false);
  });
});

describe('http', () => {
  it.each(['a port', 'a unix socket'])('posts and gets over %s', async (way) => {
    const dir = makeTempDir('http');
    const unixSocket = join(dir.path, 'web.sock');
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.writeHead(202, { 'x-type': request.headers['content-type'] ?? 'none' });
      response.end(`${request.method} ${request.url} ${body}`);
    });
    const target = way === 'a port' ? { port: 0, host: '127.0.0.1' } : { path: unixSocket };
    await new Promise<void>((resolve) => server.listen(target, resolve));
    const address = server.address();
    const url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}/x` : 'http://localhost/x';
    const options = way === 'a port' ? {} : { unixSocket };
    expect(await httpGet(url, options)).toMatchObject({ status: 202, body: 'GET /x ' });
    const posted = await httpPost(url, { a: 1 }, options);
    expect([posted.body, posted.headers['x-type']]).toEqual(['POST /x {"a":1}', 'application/json']);
    const plain = await httpPost(url, 'text', { ...options, headers: { 'content-type': 'text/plain' } });
    expect([plain.body, plain.headers['x-type']]).toEqual(['POST /x text', 'text/plain']);
    await new Promise((resolve) => server.close(resolve));
    dir.remove();
  });
});

describe('promtoolCheckMetrics', () => {
  it('tells good text from bad', async () => {
    const good = '# HELP a_total Things.\n# TYPE a_total counter\na_total 1\n';
    expect(await promtoolCheckMetrics(good)).toEqual({ ok: true, output: '' });
    const bad = await promtoolCheckMetrics('a{b="unclosed} 1\n');
    expect(bad.ok).toBe(false);
    expect(bad.output).toContain('error');
  });
});
