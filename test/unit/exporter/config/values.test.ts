import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeListenAddress } from '../../../../contract/listen-address.js';
import { isLocalOnly, readListenAddress } from '../../../../exporter/config/listen-address.js';
import { readRedisUrl, writeRedisTarget } from '../../../../exporter/config/redis-url.js';
import { durationReader, shareReader, writeDuration } from '../../../../exporter/config/values.js';

describe('durations', () => {
  const read = durationReader(0, 86_400_000);

  it.each([
    ['0s', 0],
    ['250ms', 250],
    ['60s', 60_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
  ])('%s is %d ms', (text, value) => expect(read(text)).toEqual({ ok: true, value }));

  it.each(['', '5', '5 s', '-5s', '+5s', '5S', '1e3s', '0x10s', 'NaNs', 'Infinitys', '5s ', '25h', '٣s'])(
    '%j is refused',
    (text) => expect(read(text)).toMatchObject({ ok: false }),
  );

  it('what is written is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400_000 }), (ms) => {
        expect(read(writeDuration(ms))).toEqual({ ok: true, value: ms });
      }),
    );
  });
});

it('a share needs its percent sign, because 1 could be all or a hundredth', () => {
  const read = shareReader(0.01, 100);
  expect(read('0.5%')).toEqual({ ok: true, value: 0.005 });
  for (const text of ['1', '0.01', '0%', '101%', '-1%', '1 %', '%']) expect(read(text).ok).toBe(false);
});

describe('listen addresses', () => {
  it.each([
    '127.0.0.1:9723',
    '[::1]:9723',
    '[::]:0',
    'localhost:80',
    'my-host.example:65535',
    'unix:/run/x.sock',
  ])('%s is read, and written as it was', (text) => {
    const reading = readListenAddress(text);
    expect(reading.ok && writeListenAddress(reading.value)).toBe(text);
  });

  it.each([
    ...['', ':9723', '9723', '127.0.0.1', '127.0.0.1:', '127.0.0.1:65536', '127.0.0.1:-1', '127.0.0.300:1'],
    ...[
      '::1:9723',
      '[::1]',
      '[127.0.0.1]:1',
      '[::1:1',
      'http://h:1',
      'h:1/x',
      'unix:',
      'unix:x',
      'unix:/run/',
    ],
  ])('%j is refused', (text) => expect(readListenAddress(text)).toMatchObject({ ok: false }));

  it('only loopback and sockets are local', () => {
    const local = (text: string) => {
      const reading = readListenAddress(text);
      return reading.ok && isLocalOnly(reading.value);
    };
    expect(['127.0.0.1:1', '127.9.9.9:1', '[::1]:1', 'localhost:1', 'unix:/x'].map(local)).not.toContain(
      false,
    );
    expect(['0.0.0.0:1', '[::]:1', '10.0.0.1:1', 'host:1', '[::ffff:10.0.0.1]:1'].map(local)).not.toContain(
      true,
    );
  });
});

describe('Redis URLs', () => {
  const target = (text: string) => {
    const reading = readRedisUrl(text);
    if (!reading.ok) throw new Error(reading.fault);
    return reading.value;
  };

  it('user, password, host, port and database are taken apart and decoded', () => {
    const { user, password, ...rest } = target(
      'rediss://a%40b:p%40ss%3Aw%2Fo%23r%25d%2C%22%24%7D@[::1]:7000/12',
    );
    expect([user, password?.reveal()]).toEqual(['a@b', 'p@ss:w/o#r%d,"$}']);
    expect(rest).toEqual({ address: { kind: 'tcp', host: '::1', port: 7000, tls: true }, db: 12 });
  });

  it('a unix socket may name a database', () => {
    expect(target('unix:/run/redis.sock?db=3')).toMatchObject({
      address: { path: '/run/redis.sock' },
      db: 3,
    });
    expect(target('unix:///run/redis.sock')).toMatchObject({ address: { path: '/run/redis.sock' }, db: 0 });
  });

  it.each([
    ...['redis://:secret@h', 'redis://u:secret@[::1]:1/3', 'redis://h:1/0'],
    ...['rediss+sentinel://u:secret@a,[::1]:1/m%20n/2', 'redis+cluster://:secret@a:1,b'],
  ])('%s is written masked', (text) => {
    const written = writeRedisTarget(target(text));
    expect(written).not.toContain('secret');
    const { address, db, user } = target(text);
    expect(target(written)).toMatchObject({ address, db, user });
  });

  it('Sentinels come as a list, with the name of the master and perhaps a database', () => {
    const { password, ...rest } = target('rediss+sentinel://u:p%40ss@a.example,[::1]:7000/my%2Fmaster/3');
    expect(password?.reveal()).toBe('p@ss');
    const hosts = [
      { host: 'a.example', port: 26_379 },
      { host: '::1', port: 7000 },
    ];
    expect(rest).toEqual({
      address: { kind: 'sentinel', hosts, master: 'my/master', tls: true },
      db: 3,
      user: 'u',
    });
  });

  it('a cluster is some of its nodes; it has one database', () => {
    const hosts = [
      { host: 'a', port: 6379 },
      { host: 'b', port: 1 },
    ];
    expect(target('redis+cluster://a,b:1/0')).toMatchObject({
      address: { kind: 'cluster', hosts, tls: false },
      db: 0,
    });
    expect(readRedisUrl('redis+cluster://a,b:1/2')).toMatchObject({
      fault: expect.stringContaining('database 0 only'),
    });
  });

  it('a list of hosts without a word of what they are is asked about', () => {
    expect(readRedisUrl('redis://:p@a:1,b:2/0')).toMatchObject({
      fault: expect.stringContaining('redis+sentinel:// or redis+cluster://'),
    });
  });

  it.each([
    ...['redis+sentinel://h', 'redis+sentinel://h/', 'redis+sentinel://h/m/x', 'redis+sentinel:///m'],
    ...[
      'redis+sentinel://a,,b/m',
      'redis+sentinel://a:0/m',
      'redis+sentinel://a:70000/m',
      'redis+sentinel://h/m/1/2',
    ],
    ...['redis+sentinel://:a@b@h/m', 'redis+cluster://', 'redis+cluster://:a/b@h', 'redis+cluster://:%zz@h'],
    ...['redis+cluster://h?x', 'redis+cluster://h h', 'sentinel://h', 'redis-cluster://h'],
  ])('%s is refused', (text) => expect(readRedisUrl(text)).toMatchObject({ ok: false }));

  it.each([
    ...[
      '',
      'h:6379',
      'http://h',
      'redis://',
      'redis://h/x',
      'redis://h/1/2',
      'redis://h/-1',
      'redis://h:99999',
    ],
    ...['redis://h?db=1', 'redis://:a#b@h', 'redis://:a/b@h', 'redis://:a%zz@h', 'unix:x', 'unix:/x?db=x'],
  ])('%j is refused', (text) => expect(readRedisUrl(text)).toMatchObject({ ok: false }));

  it('any password that is percent-encoded comes back as it was', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (password) => {
        expect(target(`redis://:${encodeURIComponent(password)}@h:1`).password?.reveal()).toBe(password);
      }),
    );
  });
});
