import { expect, it } from 'vitest';
import { loadConfig } from '../../../exporter/config/load-config.js';
import type { Settings } from '../../../exporter/config/settings.js';
import { redisLogin, redisServers } from '../../../exporter/redis-settings.js';

function settings(argv: string[], env: Record<string, string> = {}): Settings {
  const reading = loadConfig({ argv, env, readFile: () => 'x', scheduleFault: () => undefined });
  if (!reading.ok) throw new Error(reading.faults.join('\n'));
  return reading.config.settings;
}

const URL = '--redis-url=rediss://u:inurl@h:1/2';
const noFiles = () => '';

it('user, password and database of the URL are used', () => {
  const { readPassword, ...rest } = redisLogin(settings([URL]), noFiles);
  expect(rest).toMatchObject({ db: 2, user: 'u', tls: {} });
  expect(redisServers(settings([URL]), noFiles)).toMatchObject({ swept: { host: 'h', port: 1 } });
  expect(readPassword()).toBe('inurl');
});

it('the variable’s password wins over the URL’s, the file’s over both; --redis-user over the URL’s user', () => {
  const env = { REDIS_LOCK_REDIS_PASSWORD: 'invar' };
  expect(redisLogin(settings([URL], env), noFiles).readPassword()).toBe('invar');
  const argv = [URL, '--redis-password-file=f', '--redis-user=other'];
  const { user, readPassword } = redisLogin(settings(argv, env), () => 'infile');
  expect([user, readPassword()]).toEqual(['other', 'infile']);
});

it('the file is read at each connect; one line end is no part of the password, other spaces are', () => {
  const contents = [' one \r\n', 'two\n\n', undefined];
  const read = () => {
    const next = contents.shift();
    if (next === undefined) throw new Error('gone');
    return next;
  };
  const { readPassword } = redisLogin(settings([URL, '--redis-password-file=f']), read);
  expect([readPassword(), readPassword(), readPassword()]).toEqual([' one ', 'two\n', 'two\n']);
});

it('TLS only for rediss://, with the CA of the file', () => {
  expect(redisLogin(settings(['--redis-url=redis://h']), noFiles).tls).toBeUndefined();
  expect(redisLogin(settings([URL, '--redis-ca=ca']), () => 'PEM').tls).toEqual({ ca: 'PEM' });
});

it('Sentinels: one connection to the master, and one more to a replica where that is asked for', () => {
  const url = '--redis-url=redis+sentinel://a:1,b:2/main';
  const one = redisServers(settings([url]), noFiles);
  expect(one.kind === 'single' && one.swept === one.master).toBe(true);
  const argv = [url, '--sample-from=replica', '--redis-sentinel-password-file=f'];
  expect(redisServers(settings(argv), () => 'word\n')).toMatchObject({
    swept: { kind: 'sentinel', role: 'replica', master: 'main' },
    master: {
      kind: 'sentinel',
      role: 'master',
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    },
  });
});

it('a cluster: its seeds, and whether to sweep replicas', () => {
  const url = '--redis-url=redis+cluster://a,b:7';
  const seeds = [
    { host: 'a', port: 6379 },
    { host: 'b', port: 7 },
  ];
  expect(redisServers(settings([url]), noFiles)).toEqual({ kind: 'cluster', seeds, sweepReplicas: false });
  expect(redisServers(settings([url, '--sample-from=replica']), noFiles)).toMatchObject({
    sweepReplicas: true,
  });
});
