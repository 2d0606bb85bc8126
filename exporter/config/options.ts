import { DEFAULT_INGEST_ADDRESS, DEFAULT_STORE, storeSchema } from '../../contract/batch.js';
import { RedisLockError } from '../../contract/errors.js';
import { DEFAULT_KEY_PREFIX, parseResourceRule, type ResourceRule } from '../../contract/resource.js';
import { readListenAddress, readTcpAddress } from './listen-address.js';
import { defineOption, type OptionSpec } from './option.js';
import { bad, good, type Reading } from './reading.js';
import { REDIS_URL_FORMS, readRedisUrl } from './redis-url.js';
import { Secret } from './secret.js';
import { choiceReader, durationReader, readSwitch, shareReader, textReader } from './values.js';

const readPath = textReader(4096);

/**
 * The option table: flags, environment, YAML keys, help, checks and reference pages all come from here. The name
 * of a row is the name of the value in {@link Settings}; its unit, where it has one, is in the name.
 */
export const OPTIONS = {
  redisUrl: defineOption({
    flag: '--redis-url',
    env: ['REDIS_LOCK_REDIS_URL', 'REDIS_URL'],
    form: 'url',
    count: 'one',
    range: REDIS_URL_FORMS,
    default: ['redis://127.0.0.1:6379'],
    secret: true,
    description:
      'The Redis to sample: one server, the master that the Sentinels name, or a cluster. User and password in it ' +
      'are percent-encoded; they are those of the servers, not of the Sentinels.',
    usedBy: 'sampler',
    read: readRedisUrl,
  }),
  redisUser: defineOption({
    flag: '--redis-user',
    form: 'text',
    count: 'optional',
    range: 'name of a Redis ACL user',
    description:
      'User to log in as. Wins over the user of --redis-url. Without a password it logs in with an empty one, ' +
      'which is right for a user with nopass.',
    usedBy: 'sampler',
    read: textReader(512),
  }),
  redisPassword: defineOption({
    // On the command line every process of the machine could read it; in the file it would be copied with it.
    flag: null,
    env: ['REDIS_LOCK_REDIS_PASSWORD'],
    form: 'text',
    count: 'optional',
    range: 'the password as it is, not encoded',
    secret: true,
    description:
      'Password of Redis. Wins over the password of --redis-url; --redis-password-file wins over it.',
    usedBy: 'sampler',
    read: readSecret,
  }),
  redisPasswordFile: defineOption({
    flag: '--redis-password-file',
    form: 'file',
    count: 'optional',
    range: 'path',
    description:
      'File that holds the password of Redis and nothing else; one line end after it is dropped. Read again at ' +
      'each reconnect, so that a changed password needs no restart.',
    usedBy: 'sampler',
    read: readPath,
  }),
  redisSentinelPasswordFile: defineOption({
    flag: '--redis-sentinel-password-file',
    form: 'file',
    count: 'optional',
    range: 'path',
    description:
      'File that holds the password of the Sentinels themselves, where they want one. Read again at each reconnect.',
    usedBy: 'sampler',
    read: readPath,
  }),
  redisCa: defineOption({
    flag: '--redis-ca',
    form: 'file',
    count: 'optional',
    range: 'path of a PEM file',
    description: 'Certificates to trust for rediss:// instead of the usual ones.',
    usedBy: 'sampler',
    read: readPath,
  }),
  store: defineOption({
    flag: '--store',
    form: 'text',
    count: 'one',
    range: '1 to 64 of A-Z a-z 0-9 _ . -',
    default: [DEFAULT_STORE],
    description:
      'Name of this Redis (deployment and database): the label store, and part of every lock id. It must be the ' +
      'same as in the lock clients.',
    usedBy: 'sampler',
    read: readStore,
  }),
  keyPrefixes: defineOption({
    flag: '--key-prefix',
    form: 'text',
    count: 'many',
    range: '1 to 512 bytes; literal, no pattern',
    default: [DEFAULT_KEY_PREFIX],
    description: 'Keys that begin with it are locks. Characters such as * and [ stand for themselves.',
    usedBy: 'sampler',
    read: textReader(512),
  }),
  resourceRules: defineOption({
    flag: '--resource-rule',
    form: 'rule',
    count: 'many',
    range: 'PATTERN=NAME',
    description:
      'Keys that match PATTERN belong to the resource NAME, such as bull:<queue>:*:lock=bull-$queue. First match ' +
      'wins; without one it is the segment after the prefix.',
    usedBy: 'resources',
    read: readRule,
  }),
  sampleMode: defineOption({
    flag: '--sample-mode',
    form: 'word',
    count: 'one',
    range: 'sweep, held or off',
    default: ['sweep'],
    description:
      'sweep: look at all lock keys of Redis by SCAN, and every 5 s at those that clients of this exporter hold. ' +
      'held: only the latter, for one exporter beside each application. off: never connect to Redis; only events ' +
      'are seen.',
    usedBy: 'sampler',
    read: choiceReader(['sweep', 'held', 'off']),
  }),
  sampleFrom: defineOption({
    flag: '--sample-from',
    form: 'word',
    count: 'one',
    range: 'master or replica',
    default: ['master'],
    description:
      'replica: sweep a replica of each master, with Sentinels and clusters. It lags behind, so a sweep may show ' +
      'locks that are gone. Keys that clients hold are looked at on the master all the same.',
    usedBy: 'sampler',
    read: choiceReader(['master', 'replica']),
  }),
  sampleSchedule: defineOption({
    flag: '--sample-schedule',
    form: 'cron',
    count: 'one',
    range: 'five fields, or six that begin with the second; in UTC',
    default: ['*/15 * * * * *'],
    description: 'When to sweep.',
    usedBy: 'sampler',
    read: textReader(200),
  }),
  sampleDuty: defineOption({
    flag: '--sample-duty',
    form: 'percentage',
    count: 'one',
    range: '0.01% to 100%',
    default: ['1%'],
    description:
      'The largest share of a Redis server’s time that sweeps may take; looks at held keys may take as much again. ' +
      'A tick of the schedule is skipped while it is spent.',
    usedBy: 'sampler',
    read: shareReader(0.01, 100),
  }),
  metricsListen: defineOption({
    flag: '--metrics-listen',
    form: 'address',
    count: 'one',
    range: 'host:port or [IPv6]:port',
    default: ['0.0.0.0:9722'],
    description: 'Where Prometheus finds /metrics, /-/healthy and /-/ready, and nothing else.',
    usedBy: 'http',
    read: readTcpAddress,
  }),
  localListen: defineOption({
    flag: '--local-listen',
    form: 'address',
    count: 'one',
    range: 'host:port, [IPv6]:port or unix:/path',
    default: [DEFAULT_INGEST_ADDRESS],
    description:
      'Where lock clients post events, and people find status and locks as JSON under /api/v1/. An address that other machines can ' +
      'reach needs --token-file.',
    usedBy: 'http',
    read: readListenAddress,
  }),
  tokenFile: defineOption({
    flag: '--token-file',
    form: 'file',
    count: 'optional',
    range: 'path',
    description:
      'File with bearer tokens, one a line: any of them opens the local listener. Read again while running, so ' +
      'that tokens can be changed one after the other. A missing or empty file changes nothing: to revoke a token, ' +
      'write another.',
    usedBy: 'http',
    read: readPath,
  }),
  revealKeys: defineOption({
    flag: '--reveal-keys',
    form: 'switch',
    count: 'one',
    range: 'true or false',
    default: ['false'],
    description: 'Show full keys in /api/v1/locks, not only lock ids. Never in metrics and logs.',
    usedBy: 'http',
    read: readSwitch,
  }),
  firstIncrementHoldMs: defineOption({
    flag: '--first-increment-hold',
    form: 'duration',
    count: 'one',
    range: '0s to 10m',
    default: ['60s'],
    description:
      'How long a newborn counter is shown as 0 before its first increments, so that increase() sees them. At ' +
      'least two scrape intervals.',
    usedBy: 'metrics',
    read: durationReader(0, 600_000),
  }),
  shutdownGraceMs: defineOption({
    flag: '--shutdown-grace',
    form: 'duration',
    count: 'one',
    range: '0s to 5m',
    default: ['5s'],
    description:
      'How long events are still taken and metrics served after SIGTERM: the application’s last batch.',
    usedBy: 'process',
    read: durationReader(0, 300_000),
  }),
  logLevel: defineOption({
    flag: '--log-level',
    form: 'word',
    count: 'one',
    range: 'debug, info, warn or error',
    default: ['info'],
    description: 'The least level of log lines that are written.',
    usedBy: 'process',
    read: choiceReader(['debug', 'info', 'warn', 'error']),
  }),
} as const satisfies Record<string, OptionSpec>;

/** Name of a row of the option table. */
export type OptionName = keyof typeof OPTIONS;

/** What is said on the command line besides settings. `config` also has a variable. */
export const ACTIONS = {
  config: {
    flag: '--config',
    env: ['REDIS_LOCK_CONFIG'],
    value: 'FILE',
    description: 'YAML file with settings; its keys are the flags without their dashes.',
  },
  checkConfig: {
    flag: '--check-config',
    env: [],
    value: null,
    description: 'Check the configuration, say every fault, and end: status 0 when there is none, else 2.',
  },
  printConfig: {
    flag: '--print-config',
    env: [],
    value: null,
    description: 'Print the settings in force and where each comes from, secrets masked, and end.',
  },
  version: { flag: '--version', env: [], value: null, description: 'Print the version and end.' },
  help: { flag: '--help', env: [], value: null, description: 'Print this text and end.' },
} as const satisfies Record<
  string,
  { flag: `--${string}`; env: readonly string[]; value: string | null; description: string }
>;

function readSecret(text: string): Reading<Secret> {
  return text === '' ? bad('must not be empty') : good(new Secret(text));
}

function readStore(text: string): Reading<string> {
  return storeSchema.safeParse(text).success ? good(text) : bad('must be 1 to 64 of A-Z a-z 0-9 _ . -');
}

function readRule(text: string): Reading<ResourceRule> {
  try {
    return good(parseResourceRule(text));
  } catch (error) {
    if (error instanceof RedisLockError) return bad(`is no rule: ${error.message}`);
    throw error;
  }
}
