import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpEmitter, createLockConnection, LockClient } from '../../client/index.js';
import type { LockEvent } from '../../contract/event.js';
import {
  ENTRY_FIELDS,
  FINDING_FIELDS,
  FINDINGS_FIELDS,
  HOT_FIELDS,
  HOT_LOCK_FIELDS,
  INGEST_FIELDS,
  LEDGER_FIELDS,
  LISTENERS_FIELDS,
  LOCK_FIELDS,
  LOCKS_FIELDS,
  LOSS_FIELDS,
  PARTY_FIELDS,
  SAMPLE_FIELDS,
  SAMPLER_FIELDS,
  STATUS_FIELDS,
  TIMELINE_FIELDS,
} from '../../docs/generator/http-fields.js';
import { HotKeys } from '../../exporter/ledger/hot-keys.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { freePort } from '../support/free-port.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

type Json = Readonly<Record<string, unknown>>;

const KEY = 'lock:stock:1';

/** What docs/reference/http-api.md says of the answers, against answers of an exporter with real locks. */
describe('the fields of the JSON pages', () => {
  let redis: RedisServer;
  let exporter: ExporterProcess;
  const get = async (path: string): Promise<Json> =>
    (await (await fetch(`${exporter.localUrl}/api/v1/${path}`)).json()) as Json;
  const findings = async () => (await get('findings')).findings as Json[];
  const entries = async () => (await timelineOf(exporter.localUrl, KEY)).entries as Json[];

  beforeAll(async () => {
    redis = await startRedis();
    exporter = await startExporterProcess([
      ...['--redis-url', redis.url, '--reveal-keys', '--sample-schedule', '* * * * * *'],
    ]);
    await redis.client().set(Buffer.from([...Buffer.from('lock:'), 0xff]), 'token', 'PX', 60_000);
    await overlapOnce(redis, exporter);
    await waitFor(async () => (await findings()).some(({ lengthMs }) => lengthMs !== null), {
      what: 'the overlap and its length',
    });
  });
  afterAll(async () => {
    await exporter?.process.stop();
    await redis?.stop();
  });

  it('findings', async () => {
    expectFields([await get('findings')], FINDINGS_FIELDS);
    const shown = await findings();
    expectFields(shown, FINDING_FIELDS);
    expectFields(
      shown.flatMap(({ holder, other }) => [holder, other] as Json[]),
      PARTY_FIELDS,
    );
    expectFields(
      shown.flatMap(({ loss }) => (loss === null ? [] : [loss as Json])),
      LOSS_FIELDS,
    );
  });

  it('timeline', async () => {
    expectFields([await timelineOf(exporter.localUrl, KEY)], TIMELINE_FIELDS);
    expectFields(await entries(), ENTRY_FIELDS);
  });

  it('locks', async () => {
    const whole = await waitFor(
      async () => {
        const answer = await get('locks');
        return answer.matching === 2 ? answer : undefined;
      },
      { what: 'a sample of both keys' },
    );
    expectFields([whole], LOCKS_FIELDS);
    expectFields(whole.locks as Json[], LOCK_FIELDS);
  });

  it('hot', async () => {
    const first = await get('hot');
    expectFields([first], HOT_FIELDS);
    expect(first).toMatchObject({ windowComplete: false, endedAtMs: null, nextAtMs: expect.any(Number) });
    // A window lasts a minute: of its locks the part that makes them is asked.
    const hot = new HotKeys(0);
    hot.applyEvent(GRANT, 1);
    hot.tick(60_000);
    expectFields(hot.report().locks as unknown as Json[], HOT_LOCK_FIELDS);
  });

  it('status', async () => {
    const status = await get('status');
    expectFields([status], STATUS_FIELDS);
    expectFields([status.ingest as Json], INGEST_FIELDS);
    expectFields([status.ledger as Json], LEDGER_FIELDS);
    expectFields([status.listeners as Json], LISTENERS_FIELDS);
    const sampler = status.sampler as Json;
    expectFields([sampler.last as Json], SAMPLE_FIELDS);
    expectFields([sampler, await samplerWithoutRedis()], SAMPLER_FIELDS);
  });

  it('that are missing or made up are found out', () => {
    const fields = { a: ['', ''], b: ['', ''] } as const;
    expect(() => expectFields([{ a: 1 }], fields)).toThrow();
    expect(() => expectFields([{ a: 1, b: 1, c: 1 }], fields)).toThrow();
  });
});

/** Together the answers have each documented field, and no other. */
function expectFields(answers: readonly Json[], fields: Readonly<Record<string, unknown>>): void {
  const met = new Set(answers.flatMap((answer) => Object.keys(answer)));
  expect([...met].sort()).toEqual(Object.keys(fields).sort());
}

async function timelineOf(localUrl: string, key: string): Promise<Json> {
  const answer = await fetch(`${localUrl}/api/v1/timeline`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  return (await answer.json()) as Json;
}

/** Two clients, of which the second is granted the lock before the work of the first settles. A third call waits in vain. */
async function overlapOnce(redis: RedisServer, exporter: ExporterProcess): Promise<void> {
  const connection = createLockConnection({ host: '127.0.0.1', port: redis.port });
  const clientOf = (app: string) =>
    new LockClient({
      redis: connection,
      emitter: createHttpEmitter({ app, url: exporter.localUrl }),
      onWarning: () => {},
    });
  const [early, late] = [clientOf('early'), clientOf('late')];
  const first = await early.acquire(KEY, { leaseMs: 50 });
  await late.acquire(KEY, { leaseMs: 60_000, waitMs: 5000 });
  expect(await early.tryAcquire(KEY, { leaseMs: 50 })).toMatchObject({ outcome: 'contended' });
  await expect(early.acquire(KEY, { leaseMs: 50, waitMs: 5 })).rejects.toThrow();
  expect(await first.release()).toMatchObject({ outcome: 'stolen' });
  await early.close();
  await late.close();
  connection.disconnect();
  await redis.client().set(KEY, 'another', 'PX', 60_000);
}

async function samplerWithoutRedis(): Promise<Json> {
  const nowhere = `redis://127.0.0.1:${await freePort()}`;
  const exporter = await startExporterProcess(['--redis-url', nowhere]);
  try {
    const answer = await fetch(`${exporter.localUrl}/api/v1/status`);
    return ((await answer.json()) as { sampler: Json }).sampler;
  } finally {
    await exporter.process.stop();
  }
}

const GRANT: LockEvent = {
  kind: 'acquire',
  outcome: 'acquired',
  mode: 'try',
  atMs: 1,
  resource: 'stock',
  lock: '0123456789abcdef',
  owner: 'fedcba9876543210',
  waitMs: 1,
  attempts: 1,
  leaseMs: 1000,
  watchdog: false,
};
