import { expect, it } from 'vitest';
import { loadConfig } from '../../../exporter/config/load-config.js';
import type { Settings } from '../../../exporter/config/settings.js';
import { redisSettings } from '../../../exporter/redis-settings.js';

function settings(argv: string[], env: Record<string, string> = {}): Settings {
  const reading = loadConfig({ argv, env, readFile: () => 'x', scheduleFault: () => undefined });
  if (!reading.ok) throw new Error(reading.faults.join('\n'));
  return reading.config.settings;
}

const URL = '--redis-url=rediss://u:inurl@h:1/2';
const noFiles = () => '';

it('user, password and database of the URL are used', () => {
  const { readPassword, ...rest } = redisSettings(settings([URL]), noFiles);
  expect(rest).toMatchObject({ db: 2, user: 'u', tls: {}, address: { host: 'h', port: 1 } });
  expect(readPassword()).toBe('inurl');
});

it('the variable’s password wins over the URL’s, the file’s over both; --redis-user over the URL’s user', () => {
  const env = { REDIS_LOCK_REDIS_PASSWORD: 'invar' };
  expect(redisSettings(settings([URL], env), noFiles).readPassword()).toBe('invar');
  const argv = [URL, '--redis-password-file=f', '--redis-user=other'];
  const { user, readPassword } = redisSettings(settings(argv, env), () => 'infile');
  expect([user, readPassword()]).toEqual(['other', 'infile']);
});

it('the file is read at each connect; one line end is no part of the password, other spaces are', () => {
  const contents = [' one \r\n', 'two\n\n', undefined];
  const read = () => {
    const next = contents.shift();
    if (next === undefined) throw new Error('gone');
    return next;
  };
  const { readPassword } = redisSettings(settings([URL, '--redis-password-file=f']), read);
  expect([readPassword(), readPassword(), readPassword()]).toEqual([' one ', 'two\n', 'two\n']);
});

it('TLS only for rediss://, with the CA of the file', () => {
  expect(redisSettings(settings(['--redis-url=redis://h']), noFiles).tls).toBeUndefined();
  expect(redisSettings(settings([URL, '--redis-ca=ca']), () => 'PEM').tls).toEqual({ ca: 'PEM' });
});
