import { expect, test } from 'vitest';
import { RedisLockError } from '../../../contract/errors.js';
import { makeBench } from './lock-bench.js';

const SPOILT_LEASES = [
  0,
  -5,
  Number.NaN,
  '',
  null,
  '1000',
  1.5,
  86_400_001,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  1e21,
  Infinity,
];

test.each(SPOILT_LEASES)('a lease of %o is refused before anything is sent', async (leaseMs) => {
  const { client, server, log } = makeBench();
  await expect(client.tryAcquire('lock:a', { leaseMs: leaseMs as number })).rejects.toMatchObject({
    id: 'invalid_option',
  });
  await expect(client.acquire('lock:a', { leaseMs: leaseMs as number })).rejects.toBeInstanceOf(
    RedisLockError,
  );
  expect(server.commands).toEqual([]);
  expect(log.events).toEqual([]);
});

test.each(SPOILT_LEASES)('a default lease of %o is refused when the client is made', (leaseMs) => {
  expect(() => makeBench({ defaults: { leaseMs: leaseMs as number } })).toThrow(/leaseMs must be an integer/);
});

test('a missing lease is named as missing', async () => {
  const { client } = makeBench();
  await expect(client.tryAcquire('lock:a')).rejects.toThrow(/leaseMs is missing/);
});

test('a default lease stands in for a missing one', async () => {
  const { client, log } = makeBench({ defaults: { leaseMs: 700 } });
  await client.tryAcquire('lock:a');
  expect(log.last('acquire').leaseMs).toBe(700);
});

test.each([
  ['waitMs', -1],
  ['waitMs', null],
  ['maxHoldMs', 0],
  ['maxHoldMs', Number.POSITIVE_INFINITY],
  ['watchdog', 'yes'],
  ['fence', null],
  ['workTimeoutMs', 0],
  ['deadline', 'tomorrow'],
  ['deadline', new Date(Number.NaN)],
  ['signal', {}],
  ['resource', ''],
  ['retry', { baseMs: 0 }],
  ['retry', { baseMs: 50, capMs: 10 }],
])('%s = %o is refused by name', async (name, value) => {
  const { client, server } = makeBench();
  const options = { leaseMs: 1000, [name]: value };
  await expect(client.acquire('lock:a', options)).rejects.toThrow(
    new RegExp(name === 'retry' ? 'retry\\.' : name),
  );
  expect(server.commands).toEqual([]);
});

test.each(['', undefined, null, 7, {}, Buffer.alloc(0), new Uint8Array(2)])(
  'a key of %o is refused',
  async (key) => {
    const { client, server } = makeBench();
    await expect(client.tryAcquire(key as string, { leaseMs: 1000 })).rejects.toMatchObject({
      id: 'invalid_option',
    });
    expect(server.commands).toEqual([]);
  },
);

test('the message shows no value that could be a secret', async () => {
  const { client } = makeBench();
  const fault = await client.tryAcquire('lock:a', { leaseMs: 'hunter2' as unknown as number }).catch(String);
  expect(fault).not.toContain('hunter2');
});

test.each([0, -5, Number.NaN, '', null, 1e21])(
  'renewing with %o is refused before anything is sent',
  async (leaseMs) => {
    const { grant, server, log } = makeBench();
    const lease = await grant();
    await expect(lease.renew(leaseMs as number)).rejects.toMatchObject({ id: 'invalid_option' });
    expect(server.commands).toEqual(['acquire lock:stock:1']);
    expect(log.story).toEqual(['acquire acquired']);
  },
);
