import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../support/free-port.js';
import { type RedisServer, startRedis } from '../../../support/redis-server.js';
import { requireBinary } from '../../../support/require-binary.js';
import { makeTempDir } from '../../../support/temp-dir.js';
import { waitFor } from '../../../support/wait-for.js';
import { makeSampler } from './start-sampler.js';

const dir = makeTempDir('tls');
const certificate = join(dir.path, 'cert.pem');
let server: RedisServer;
let tlsPort: number;

beforeAll(async () => {
  const key = join(dir.path, 'key.pem');
  const subject = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate];
  execFileSync(requireBinary('openssl', 'openssl'), [...request, '-days', '2', ...subject], {
    stdio: 'ignore',
  });
  tlsPort = await freePort();
  const tls = ['--tls-port', String(tlsPort), '--tls-cert-file', certificate, '--tls-key-file', key];
  server = await startRedis({ args: [...tls, '--tls-auth-clients', 'no'] });
});

afterAll(async () => {
  await server?.stop();
  dir.remove();
});

it('with the CA of the server it samples', async () => {
  await server.client().set('lock:a', 'v');
  const ca = readFileSync(certificate, 'utf8');
  const { sampler, records, keys, stop } = makeSampler(tlsPort, { connection: { tls: { ca } } });
  await waitFor(() => sampler.tick().then(() => records.up === 'ok'), { what: 'a good sample' });
  expect(keys()).toEqual(['lock:a']);
  await stop();
});

it('a server that the CA does not vouch for is not talked to', async () => {
  const { sampler, records, stop } = makeSampler(tlsPort, { connection: { tls: {} } });
  await sampler.tick();
  expect([records.up, records.samples.length]).toEqual(['connection', 0]);
  await stop();
});
