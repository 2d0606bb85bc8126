import { describe, expect, it } from 'vitest';
import { parseIngestAddress } from '../../../../client/emitter/ingest-address.js';

describe('parseIngestAddress', () => {
  it('is where the exporter listens by default', () => {
    expect(parseIngestAddress(undefined, undefined)).toEqual({
      text: 'http://127.0.0.1:9723',
      secure: false,
      path: '/v1/events',
      target: { hostname: '127.0.0.1', port: 9723 },
    });
  });

  it.each([
    ['http://localhost:9723', 'localhost', 9723],
    ['localhost:9723', 'localhost', 9723],
    ['http://[::1]:9723', '::1', 9723],
    ['[::1]:9723', '::1', 9723],
    ['http://exporter', 'exporter', undefined],
  ])('reads %s', (url, hostname, port) => {
    expect(parseIngestAddress(url, undefined).target).toEqual({ hostname, port });
  });

  it('puts a path of the URL before the contract’s', () => {
    expect(parseIngestAddress('https://gate.example/locks/', undefined)).toMatchObject({
      secure: true,
      path: '/locks/v1/events',
      text: 'https://gate.example/locks',
    });
  });

  it('reads a socket in both forms', () => {
    const address = parseIngestAddress('unix:/run/x.sock', undefined);
    expect(address).toMatchObject({ text: 'unix:/run/x.sock', target: { socketPath: '/run/x.sock' } });
    expect(parseIngestAddress(undefined, '/run/x.sock')).toEqual(address);
  });

  it.each([
    ['ftp://exporter', undefined],
    ['', undefined],
    ['http://', undefined],
    ['unix:relative.sock', undefined],
    [undefined, 'relative.sock'],
    ['http://exporter', '/run/x.sock'],
    ['http://user:hunter2@exporter', undefined],
    ['http://exporter?token=hunter2', undefined],
    ['http://exporter#hunter2', undefined],
  ])('refuses url %j with socketPath %j without repeating it', (url, socketPath) => {
    expect(() => parseIngestAddress(url, socketPath)).toThrow(
      /^The address of the exporter cannot be used: /,
    );
    expect(() => parseIngestAddress(url, socketPath)).not.toThrow(/hunter2/);
  });
});
