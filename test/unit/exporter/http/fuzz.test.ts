import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EVENTS_PATH } from '../../../../contract/batch.js';
import { systemClock } from '../../../../contract/clock.js';
import { exampleBatch } from '../../../contract/examples.js';
import { httpSend } from '../../../support/http.js';
import { makeIngest } from '../ingest/ingest-bench.js';
import { closeAfterEach, openRaw, type Served, serveLocal } from './http-bench.js';

closeAfterEach();

/** A real ingest behind the real app. */
function serveIngest() {
  const bench = makeIngest();
  return serveLocal({ clock: systemClock(), receiveBatch: (body) => bench.ingest.receive(body) });
}

const batch = { ...exampleBatch(), store: 'orders' };
const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((text) => Buffer.from(text)),
  fc.json().map((text) => gzipSync(text)),
  fc
    .record(
      { events: fc.jsonValue(), holds: fc.jsonValue(), dropped: fc.jsonValue(), seq: fc.jsonValue() },
      { requiredKeys: [] },
    )
    .map((change) => Buffer.from(JSON.stringify({ ...batch, ...change }))),
  fc.nat({ max: 400 }).map((end) => Buffer.from(JSON.stringify(batch)).subarray(0, end)),
);
const text = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((value) => value.trim());
const headers = fc.record(
  {
    'content-type': fc.oneof(
      fc.constantFrom('application/json', 'application/json; charset=utf-8', 'text/plain'),
      text,
    ),
    'content-encoding': fc.oneof(fc.constantFrom('gzip', 'identity', 'br', 'deflate'), text),
    accept: text,
    authorization: text,
    origin: text,
    host: text,
    'x-forwarded-for': text,
    range: fc.constant('bytes=0-1'),
    'if-none-match': fc.constant('*'),
  },
  { requiredKeys: ['content-type'] },
);
const method = fc.constantFrom('POST', 'POST', 'POST', 'PUT', 'GET', 'DELETE', 'PATCH', 'OPTIONS');
const path = fc.oneof(
  fc.constant(EVENTS_PATH),
  fc.constantFrom('/api/v1/locks', '/api/v1/status', '/', '//', '/%', '/%00', `${EVENTS_PATH}?a[b]=1`),
  fc.webPath(),
);

it('no request, however odd, gives an answer of 5xx, one that is not JSON, or a fault', async () => {
  const served = await serveIngest();
  const property = fc.asyncProperty(method, path, bodies, headers, async (verb, where, body, sent) => {
    const answer = await httpSend(verb, served.url + where, body, { headers: sent });
    expect(answer.status).toBeLessThan(500);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(() => JSON.parse(answer.body) as unknown).not.toThrow();
  });
  await fc.assert(property, { numRuns: 300 });
  expect(served.faults).toEqual([]);
  await expectAlive(served);
});

it('no bytes, however broken, bring the server down', async () => {
  const served = await serveIngest();
  const head = `POST ${EVENTS_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.string({ maxLength: 60 }).map((line) => Buffer.from(`${head}${line}\r\n\r\n`)),
    fc
      .string({ maxLength: 60 })
      .map((line) => Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${line}\r\n`)),
    fc.string({ maxLength: 60 }).map((line) => Buffer.from(`${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`)),
  );
  const property = fc.asyncProperty(junk, async (bytes) => {
    const { socket, closed } = openRaw(served.port);
    socket.end(bytes);
    expect(await closed).not.toMatch(/^HTTP\/1.1 5/);
  });
  await fc.assert(property, { numRuns: 150 });
  expect(served.faults).toEqual([]);
  await expectAlive(served);
});

async function expectAlive(served: Served): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await httpSend('POST', served.url + EVENTS_PATH, JSON.stringify(batch), { headers });
  expect(answer.status).toBe(200);
}
