import { describe, expect, it } from 'vitest';
import { type ConfigSources, loadConfig, readAction } from '../../../../exporter/config/load-config.js';
import type { Settings } from '../../../../exporter/config/settings.js';

const CANARY = 'p@ss:w/o#r%d,"$}';

interface Given {
  argv?: string[];
  env?: Record<string, string>;
  files?: Record<string, string>;
}

function load({ argv = [], env = {}, files = {} }: Given) {
  const sources: ConfigSources = {
    argv,
    env,
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      return text;
    },
    scheduleFault: (expression) => (expression.includes('x') ? 'is no cron expression' : undefined),
  };
  return loadConfig(sources);
}

function settings(given: Given): Settings {
  const reading = load(given);
  if (!reading.ok) throw new Error(reading.faults.join('\n'));
  return reading.config.settings;
}

function faults(given: Given): string[] {
  const reading = load(given);
  return reading.ok ? [] : [...reading.faults];
}

describe('where a value comes from', () => {
  it('without any input every default holds, and it is good', () => {
    expect(settings({})).toMatchObject({
      store: 'default',
      keyPrefixes: ['lock:'],
      resourceRules: [],
      sampleMode: 'sweep',
      sampleDuty: 0.01,
      revealKeys: false,
      firstIncrementHoldMs: 60_000,
      shutdownGraceMs: 5000,
      tokenFile: undefined,
      metricsListen: { kind: 'tcp', host: '0.0.0.0', port: 9722 },
      localListen: { kind: 'tcp', host: '127.0.0.1', port: 9723 },
      redisUrl: { address: { kind: 'tcp', host: '127.0.0.1', port: 6379, tls: false }, db: 0 },
    });
  });

  it('a flag wins over the environment, that over the file, that over the default', () => {
    const files = { 'c.yaml': 'store: file\nsample-duty: 2%\nshutdown-grace: 1s\n' };
    const reading = load({
      argv: ['--config', 'c.yaml', '--store=flag'],
      env: { REDIS_LOCK_STORE: 'env', REDIS_LOCK_SAMPLE_DUTY: '3%' },
      files,
    });
    expect(reading).toMatchObject({
      ok: true,
      config: {
        settings: { store: 'flag', sampleDuty: 0.03, shutdownGraceMs: 1000, sampleMode: 'sweep' },
        origins: {
          store: '--store',
          sampleDuty: 'REDIS_LOCK_SAMPLE_DUTY',
          shutdownGraceMs: 'c.yaml:3',
          sampleMode: 'default',
        },
      },
    });
  });

  it('REDIS_LOCK_REDIS_URL wins over REDIS_URL, and REDIS_LOCK_CONFIG names the file', () => {
    const env = {
      REDIS_URL: 'redis://a:1',
      REDIS_LOCK_REDIS_URL: 'redis://b:2',
      REDIS_LOCK_CONFIG: 'c.yaml',
    };
    const { redisUrl, store } = settings({ env, files: { 'c.yaml': 'store: x' } });
    expect([redisUrl.address, store]).toMatchObject([{ host: 'b', port: 2 }, 'x']);
  });

  it('repeated flags, a list in the file and commas in a variable all give several values', () => {
    const two = ['a:', 'b:'];
    expect(settings({ argv: ['--key-prefix', 'a:', '--key-prefix=b:'] }).keyPrefixes).toEqual(two);
    expect(settings({ env: { REDIS_LOCK_KEY_PREFIX: 'a:,b:' } }).keyPrefixes).toEqual(two);
    const files = { c: 'key-prefix: ["a:", "b:"]' };
    expect(settings({ argv: ['--config=c'], files }).keyPrefixes).toEqual(two);
  });

  it('of a flag given twice the last counts, as a wrapper’s flags can be overruled so', () => {
    expect(settings({ argv: ['--store', 'a', '--store=b'] }).store).toBe('b');
  });

  it('an empty variable is not set', () => {
    expect(settings({ env: { REDIS_LOCK_STORE: '', REDIS_URL: '' } }).store).toBe('default');
  });

  it('a switch stands alone, with =false or with a word after it', () => {
    expect(settings({ argv: ['--reveal-keys'] }).revealKeys).toBe(true);
    expect(settings({ argv: ['--reveal-keys=false'] }).revealKeys).toBe(false);
    expect(settings({ argv: ['--reveal-keys', 'true', '--store', 'x'] })).toMatchObject({
      revealKeys: true,
      store: 'x',
    });
  });
});

describe('faults', () => {
  it('all are said at once, each naming where it stands', () => {
    const given = {
      argv: [
        '--sample-dutty',
        '5%',
        '--store',
        'a b',
        '--shutdown-grace',
        '5',
        '--config',
        'c.yaml',
        'stray',
      ],
      env: { REDIS_LOCK_SAMPEL_MODE: 'off', REDIS_LOCK_LOG_LEVEL: 'loud' },
      files: { 'c.yaml': 'sample-duty: 300%\n\nkey-prefx: a\nreveal-keys: yes\nresources: 5\n' },
    };
    expect(faults(given)).toEqual([
      '--sample-dutty is not an option (did you mean --sample-duty?); --help shows all',
      '"stray" belongs to no flag; every setting has one, --help shows all',
      'variable REDIS_LOCK_SAMPEL_MODE is not an option (did you mean REDIS_LOCK_SAMPLE_MODE?); --help shows all',
      'c.yaml:3 "key-prefx" is not an option (did you mean key-prefix?); --help shows all',
      'c.yaml:5 resources must be a map from resources to their policy',
      '--store "a b" must be 1 to 64 of A-Z a-z 0-9 _ . -',
      'c.yaml:1 "300%" must be from 0.01% to 100%',
      'c.yaml:4 "yes" must be true or false',
      '--shutdown-grace "5" must be a number with a unit ms, s, m or h, such as 60s or 250ms',
      'REDIS_LOCK_LOG_LEVEL "loud" must be debug, info, warn or error',
    ]);
  });

  it.each([
    [['--store'], '--store needs a value'],
    [['--store', '--redis-url', 'redis://h'], '--store needs a value'],
    [['--check-config=yes'], '--check-config takes no value'],
    [['--config'], '--config needs a value: FILE'],
    [['--sample-mode', 'all'], 'must be sweep, held or off'],
    [['--sample-from', 'replica'], 'needs a --redis-url with redis+sentinel:// or redis+cluster://'],
    [['--redis-sentinel-password-file', 'ca.pem'], 'needs a --redis-url with redis+sentinel://'],
    [['--sample-schedule', 'x'], 'is no cron expression'],
    [['--resource-rule', 'abc'], 'it has no "=" between'],
    [['--key-prefix='], 'must not be empty'],
    [['--metrics-listen', 'unix:/tmp/x'], 'must be host:port'],
    [['--local-listen', `unix:/${'x'.repeat(120)}`], 'more than 107 bytes'],
    [['--local-listen', '0.0.0.0:1'], 'can be reached from other machines: give --token-file too'],
    [['--local-listen', '127.0.0.1:9722'], 'have the same port 9722'],
    [['--redis-ca', 'ca.pem'], 'needs a --redis-url with rediss://'],
    [['--token-file', 'none'], '"none" cannot be read (ENOENT)'],
    [['--token-file', 'blank'], '"blank" is empty'],
    [['--config', 'none'], 'none cannot be read (ENOENT)'],
    [['foo'], '"foo" belongs to no flag'],
    [
      ['conf/exporter.yaml'],
      '"conf/exporter.yaml" belongs to no flag; a settings file is named with --config',
    ],
    [['s3cr3t!'], 'argument 1 belongs to no flag'],
  ])('%j: %s', (argv, fault) => {
    const found = faults({ argv, env: {}, files: { blank: '\n', 'ca.pem': 'PEM' } });
    expect(found).toEqual([expect.stringContaining(fault)]);
  });

  it.each([
    [
      'key twice',
      'store: a\nstore: b\nbogus: c\n',
      ['c:2 "store" stands there a second time', 'c:3 "bogus"'],
    ],
    ['field twice', 'resources:\n  a: {page: true, page: false}\n', ['c:2 "page" stands there a second']],
    ['open quote', 'log-level: info\nstore: "abc\nredis-url: x\n', ['c:2 has a quote that is never closed']],
    ['open list', 'key-prefix: [a, b\nlog-level: info\n', ['c:1 has a [ or { that is never closed']],
    ['tab', 'store: a\n\tlog-level: b\n', ['c:2 is indented with a tab; use spaces']],
    ['no colon', 'store: a\nlog-level\n', ['c:2 has no ": " between key and value']],
    ['no colon, first', 'store a\nlog-level: b\n', ['c:1 has no ": " between key and value']],
    ['two colons', 'store: a: b\n', ['c:1 has a second ": "']],
    ['a reserved first character', 'store: @x\n', ['c:1 has a value that must be in quotes']],
  ])('YAML with %s is told in plain words, at its line', (_, text, expected) => {
    const found = faults({ argv: ['--config', 'c'], env: {}, files: { c: text } });
    expect(found).toEqual(expected.map((start) => expect.stringContaining(start)));
  });

  it.each([
    ['127.0.0.1:9722', '127.0.0.2:9722', 0],
    ['127.0.0.1:9722', '[::1]:9722', 0],
    ['127.0.0.1:0', '127.0.0.1:0', 0],
    ['localhost:9722', '127.0.0.1:9722', 1],
    ['127.0.0.1:9722', '[::]:9722', 1],
  ])('listening on %s and %s has %i faults', (local, metrics, count) => {
    expect(faults({ argv: ['--local-listen', local, '--metrics-listen', metrics] })).toHaveLength(count);
  });

  it('the links that Kubernetes makes for a service called redis-lock-exporter are no faults', () => {
    const env = {
      REDIS_LOCK_EXPORTER_SERVICE_HOST: '10.0.0.1',
      REDIS_LOCK_EXPORTER_SERVICE_PORT_METRICS: '9722',
      REDIS_LOCK_EXPORTER_PORT: 'tcp://10.0.0.1:9722',
      REDIS_LOCK_EXPORTER_PORT_9722_TCP_ADDR: '10.0.0.1',
    };
    expect(faults({ env })).toEqual([]);
  });

  it('an address that others can reach is good with a token', () => {
    expect(faults({ argv: ['--local-listen', '[::]:1', '--token-file', 't'], files: { t: 'abc' } })).toEqual(
      [],
    );
  });
});

describe('a secret never shows in a fault', () => {
  it.each([
    { argv: ['--redis-password', CANARY] },
    { argv: [`--redis-password=${CANARY}`] },
    { argv: [`--redis-url=redis://:${CANARY}@h:1`] },
    { argv: [`redis://:${CANARY}@h:1`] },
    { argv: ['--redis-url', `redis://:${encodeURIComponent(CANARY)}@h:1/x`] },
    { env: { REDIS_URL: `redis://u:${CANARY}@h` } },
    { env: { REDIS_URL: `http://u:${encodeURIComponent(CANARY)}@h` } },
    { argv: ['--config', 'c'], files: { c: `redis-url: {"a": "redis://:${CANARY}@h"\n` } },
    { argv: ['--config', 'c'], files: { c: `redis-url: redis://:${encodeURIComponent(CANARY)}@h/x\n` } },
    { argv: ['--config', 'c'], files: { c: `redis-url: [redis://:${encodeURIComponent(CANARY)}@h]\n` } },
    { argv: ['--config', 'c'], files: { c: `redis-password: ${encodeURIComponent(CANARY)}\n` } },
  ])('%j', (given) => {
    const found = faults(given);
    expect(found.length).toBeGreaterThan(0);
    expect(found.join('\n')).not.toMatch(/p@ss|p%40ss|%25d|w\/o/);
  });
});

it('--help and --version are understood beside faults, and help wins', () => {
  expect(readAction(['--nonsense', '--version', '-h'])).toBe('help');
  expect(readAction(['--store', '--version'])).toBe('version');
  expect(readAction(['--print-config', '--check-config'])).toBe('check');
});
