import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createLockConnection } from '../../../client/index.js';
import { checkClientLimits, planAcquire } from '../../../client/options.js';
import { fakeConnection } from '../client/fake-lock-server.js';
import { readMarkdown } from './examples.js';
import { readOptions, readTables } from './option-tables.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Each interface of options that a user fills in, and its file. The heading of its table is its name. */
const INTERFACES = {
  AcquireOptions: 'client/options.ts',
  RetryOptions: 'client/retry.ts',
  LockClientOptions: 'client/options.ts',
  SheddingOptions: 'client/load-shedding.ts',
  HttpEmitterOptions: 'client/emitter/http-emitter.ts',
  InProcessEmitterOptions: 'client/emitter/in-process-emitter.ts',
  CommonConnectionOptions: 'client/connection.ts',
  ServerConnectionOptions: 'client/connection.ts',
  SentinelConnectionOptions: 'client/connection.ts',
  ClusterConnectionOptions: 'client/connection.ts',
} as const;

describe('docs/client.md', () => {
  const tables = readTables(readMarkdown(ROOT, 'docs/client.md'));
  const tableOf = (name: string) => tables.get(name) ?? new Map<string, string>();
  const cell = (table: keyof typeof INTERFACES, option: string) => tableOf(table).get(option);

  it.each(Object.entries(INTERFACES))('has each option of %s, and no other', (name, path) => {
    const options = readOptions(join(ROOT, path), name).map((option) => option.name);
    expect([...tableOf(name).keys()]).toEqual(options);
  });

  it.each(Object.entries(INTERFACES))('has the defaults that the comments of %s tell', (name, path) => {
    const table = tableOf(name);
    const told = readOptions(join(ROOT, path), name).map((option) => [option.name, option.byDefault ?? '–']);
    expect([...table].map(([option, byDefault]) => [option, byDefault])).toEqual(told);
  });

  it('has the defaults that the code uses', () => {
    const plan = planAcquire({ leaseMs: 1000 }, {});
    expect(cell('AcquireOptions', 'waitMs')).toBe(String(plan.waitMs));
    expect(cell('AcquireOptions', 'watchdog')).toBe(String(plan.watchdog));
    expect(cell('AcquireOptions', 'fence')).toBe(String(plan.fence));
    expect(cell('AcquireOptions', 'maxHoldMs')).toBe(`${plan.maxHoldMs / plan.leaseMs} × lease`);
    expect(cell('RetryOptions', 'baseMs')).toBe(String(plan.retryBaseMs));
    expect(cell('RetryOptions', 'capMs')).toBe(String(plan.retryCapMs));
    const limits = checkClientLimits({ redis: fakeConnection() });
    expect(cell('LockClientOptions', 'commandTimeoutMs')).toBe(String(limits.commandTimeoutMs));
    expect(cell('LockClientOptions', 'fenceTtlMs')).toBe(`${limits.fenceTtlMs / 3_600_000} h`);
  });

  it('has the defaults that connections get', () => {
    const { options } = createLockConnection({ lazyConnect: true });
    expect(cell('CommonConnectionOptions', 'commandTimeoutMs')).toBe(String(options.commandTimeout));
    expect(cell('CommonConnectionOptions', 'connectTimeoutMs')).toBe(String(options.connectTimeout));
    expect(cell('CommonConnectionOptions', 'connectionName')).toBe(`\`${options.connectionName}\``);
    const sentinel = createLockConnection({
      sentinels: [{ host: '127.0.0.1', port: 1 }],
      lazyConnect: true,
    });
    expect(cell('SentinelConnectionOptions', 'masterName')).toBe(`\`${sentinel.options.name}\``);
  });
});
