import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ownerDigest } from '../../../../contract/lock-id.js';
import { singleServer } from '../../../../exporter/sampler/deployment.js';
import type { SampleStep } from '../../../../exporter/sampler/step.js';
import { type RedisServer, startRedis } from '../../../support/redis-server.js';
import { redisErrors } from '../../../support/resp-reply.js';
import { startRespStub } from '../../../support/resp-stub.js';
import { packKey } from '../../../support/sampled-keys.js';
import { waitFor } from '../../../support/wait-for.js';
import { connectNode, makeSampler, sampleDeployment, type TestSampler } from './start-sampler.js';

let server: RedisServer;
let redis: Redis;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startRedis({ args: ['--enable-debug-command', 'yes'] });
  redis = server.client();
});
beforeEach(() => redis.flushall());
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});
afterAll(() => server.stop());

const MODES = ['script', 'commands'] as const;

/** A sampler whose steps look at ten slots each; `before` is called before each step with its number. */
function withSmallSteps(by: (typeof MODES)[number], before: (step: number) => Promise<void>): TestSampler {
  const node = connectNode(server.port, { by });
  let steps = 0;
  const step: SampleStep = async (request) => {
    steps += 1;
    await before(steps);
    return node.step({ ...request, count: 10 });
  };
  const sampler = sampleDeployment(singleServer({ ...node, step }));
  undo.push(() => sampler.stop());
  return sampler;
}

describe.each(MODES)('by %s', (by) => {
  // B1: volcano-sh/kthena#1431, redis/redis#12302: SCAN returns keys again when its table shrinks.
  it('60,000 locks of which 59,000 go after three pages of ten: no lock counts twice (B1)', async () => {
    const names = Array.from({ length: 60_000 }, (_, at) => `lock:n:${at}`);
    await redis.mset(names.flatMap((name) => [name, 'v']));
    const { sampler, records, keys } = withSmallSteps(by, async (step) => {
      if (step !== 4) return;
      await redis.del(...names.slice(1000));
      const table = async () => String(await redis.call('DEBUG', 'HTSTATS', '0')).split('[Expires')[0] ?? '';
      const hasShrunk = async () => {
        const text = await table();
        return !text.includes('rehashing target') && Number(/table size: (\d+)/.exec(text)?.[1]) <= 4096;
      };
      await waitFor(hasShrunk, { what: 'the table to shrink', timeoutMs: 20_000, everyMs: 50 });
    });
    await sampler.tick();
    const seen = keys();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(names.slice(0, 1000)));
    expect(sampler.state().last).toMatchObject({ keys: seen.length, known: seen.length });
    expect(records.last.resources.get('n')?.keys).toBe(seen.length);
  });

  it('a page that comes twice counts once (B1)', async () => {
    const page = ['lock:n:1', 'lock:n:2', 'lock:n:1'];
    const stub = await startRespStub({
      handler: (args, { command }) => {
        const isLast = String(args[command === 'EVALSHA' ? 3 : 1]) !== '0';
        if (command === 'TIME') return ['1700000000', '0'];
        if (command === 'SCAN') return [isLast ? '0' : '7', page];
        if (command === 'PTTL') return 5000;
        if (command === 'TYPE') return 'string';
        if (command === 'GETRANGE') return 'token';
        if (command !== 'EVALSHA') return undefined;
        const records = page.map((name) => packKey(name, 5000, ownerDigest('token')));
        return ['sampled', isLast ? '0' : '7', '1700000000000000', 1, Buffer.concat(records)];
      },
    });
    undo.push(() => stub.stop());
    const made = makeSampler(stub.port, { by });
    undo.push(() => made.stop());
    await made.sampler.tick();
    expect([made.records.up, made.keys()]).toEqual(['ok', ['lock:n:1', 'lock:n:2']]);
    expect(made.sampler.state().last).toMatchObject({ keys: 2, known: 2, steps: 2 });
    expect(made.records.last.resources.get('n')?.keys).toBe(2);
  });

  // B2: redis/redis#2673, #11991: an empty page with a cursor is no end.
  it('one lock among 5000 other keys is found by steps of ten, most of them empty (B2)', async () => {
    const others = Array.from({ length: 5000 }, (_, at) => `other:${at}`);
    await redis.mset(['lock:n:1', 'v', ...others.flatMap((name) => [name, 'v'])]);
    const { sampler, keys } = withSmallSteps(by, async () => {});
    await sampler.tick();
    expect(keys()).toEqual(['lock:n:1']);
    expect(sampler.state().last?.steps).toBeGreaterThan(300);
  });

  it('a cursor beyond 2^53 is handed back digit by digit (B2)', async () => {
    const cursor = '18446744073709551557';
    const stub = await startRespStub({
      handler: (args, { command }) => {
        const next = String(args[command === 'EVALSHA' ? 3 : 1]) === '0' ? cursor : '0';
        if (command === 'TIME') return ['1700000000', '0'];
        if (command === 'SCAN') return [next, []];
        return command === 'EVALSHA' ? ['sampled', next, '1700000000000000', 1, ''] : undefined;
      },
    });
    undo.push(() => stub.stop());
    const made = makeSampler(stub.port, { by });
    undo.push(() => made.stop());
    await made.sampler.tick();
    const asked = stub.requests.flatMap(([command, ...args]) =>
      command === 'EVALSHA' ? [args[2]] : command === 'SCAN' ? [args[0]] : [],
    );
    expect([made.records.up, asked]).toEqual(['ok', ['0', cursor]]);
  });

  // B3: mvisonneau/gitlab-ci-pipelines-exporter#1087: -2 published as a lifetime.
  it('locks that live for 20 to 200 ms: no life below 0, and nothing fails (B3)', async () => {
    const { sampler, records } = withSmallSteps(by, async () => {});
    for (let round = 0; round < 15; round += 1) {
      const batch = redis.pipeline();
      for (let at = 0; at < 200; at += 1) {
        batch.set(`lock:n:${round}:${at}`, 'v', 'PX', 20 + ((at * 37) % 181));
      }
      const [, tick] = [await batch.exec(), sampler.tick()];
      await tick;
      for (const { leftMs } of sampler.locks()) expect(leftMs).toBeGreaterThanOrEqual(0);
    }
    expect([records.up, records.errors, records.samples.length]).toEqual(['ok', [], 15]);
    for (const { takenAtMs, durationMs, resources } of records.samples) {
      const earliestMs = resources.get('n')?.earliestExpiryMs ?? Number.POSITIVE_INFINITY;
      // A life of 0 to 200 ms counted from the look, which was within the sweep. Both clocks are read in turn.
      expect(earliestMs).toBeGreaterThan(takenAtMs - durationMs - 5);
    }
  });

  it('a server for which every key is gone: nothing is shown, all are counted as vanished (B3)', async () => {
    const names = ['lock:n:1', 'lock:n:2', 'lock:n:3'];
    const stub = await startRespStub({
      handler: (_args, { command }) => {
        if (command === 'TIME') return ['1700000000', '0'];
        if (command === 'SCAN') return ['0', names];
        if (command === 'PTTL') return -2;
        if (command === 'TYPE') return 'none';
        if (command !== 'EVALSHA') return redisErrors.noPerm(command.toLowerCase());
        const records = names.map((name) => packKey(name, -2, '-'));
        return ['sampled', '0', '1700000000000000', 1, Buffer.concat(records)];
      },
    });
    undo.push(() => stub.stop());
    const made = makeSampler(stub.port, { by });
    undo.push(() => made.stop());
    await made.sampler.tick();
    expect([made.records.up, made.records.errors, made.keys()]).toEqual(['ok', [], []]);
    expect(made.records.last.resources.size).toBe(0);
    expect(made.sampler.state().last).toMatchObject({ keys: 0, vanished: 3 });
  });
});

// E4: valkey-io/valkey#2651, redis/redis#416: the server's clock is set back, and locks would live for a day.
it('a lock whose life is a day though its lease was seconds is seen by its latest expiry (E4)', async () => {
  await redis.set('lock:n:1', 'v', 'PX', 5000);
  await redis.set('lock:n:2', 'v', 'PX', 5000);
  const made = makeSampler(server.port);
  undo.push(() => made.stop());
  await made.sampler.tick();
  await redis.pexpire('lock:n:2', 86_400_000);
  await made.sampler.tick();
  const { takenAtMs, resources } = made.records.last;
  expect((resources.get('n')?.latestExpiryMs ?? 0) - takenAtMs).toBeGreaterThan(86_000_000);
  expect((resources.get('n')?.earliestExpiryMs ?? 0) - takenAtMs).toBeLessThanOrEqual(5000);
});
