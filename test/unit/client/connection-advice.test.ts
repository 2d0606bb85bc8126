import { Cluster, Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createLockConnection, judgeConnection, type LockConnection } from '../../../client/index.js';

/** What is said of a connection that never connects. */
function codesOf(connection: LockConnection): string[] {
  const codes = judgeConnection(connection).map(({ code }) => code);
  connection.disconnect();
  return codes;
}

test.each([
  createLockConnection({ lazyConnect: true }),
  createLockConnection({ lazyConnect: true, url: 'redis://user:pass@127.0.0.1:1/3' }),
  createLockConnection({ lazyConnect: true, sentinels: [{ host: '127.0.0.1', port: 1 }] }),
  createLockConnection({ lazyConnect: true, cluster: [{ host: '127.0.0.1', port: 1 }] }),
])('a connection made for locks has no fault', (connection) => {
  expect(codesOf(connection)).toEqual([]);
});

test('a plain ioredis connection is warned of, each setting with its reason and its remedy', () => {
  const redis = new Redis({ lazyConnect: true });
  const warnings = judgeConnection(redis);
  redis.disconnect();
  expect(warnings.map(({ code }) => code)).toEqual([
    'no_command_timeout',
    'offline_queue',
    'no_reconnect_on_readonly',
  ]);
  for (const { message } of warnings) expect(message).toMatch(/: .* Set \w+/);
});

test.each<[object, string]>([
  [{ autoResendUnfulfilledCommands: false }, 'no_auto_resend'],
  [{ retryStrategy: null }, 'no_reconnect'],
  [{ reconnectOnError: () => false }, 'no_reconnect_on_readonly'],
  [{ sentinels: [{ host: 'a', port: 1 }], name: 'm', role: 'slave' }, 'replica_role'],
])('%o is warned of as %s', (options, code) => {
  expect(codesOf(new Redis({ lazyConnect: true, ...options }))).toContain(code);
});

test('of a Cluster, the settings of its nodes count', () => {
  const nodes = [{ host: '127.0.0.1', port: 1 }];
  expect(codesOf(new Cluster(nodes, { lazyConnect: true }))).toEqual(['no_command_timeout', 'offline_queue']);
  const fit = { lazyConnect: true, enableOfflineQueue: false, redisOptions: { commandTimeout: 1000 } };
  expect(codesOf(new Cluster(nodes, fit))).toEqual([]);
});
