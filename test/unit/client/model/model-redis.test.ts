import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fenceKey } from '../../../../lua/fence-key.js';
import { type LockScripts, loadLockScripts } from '../../../../lua/scripts.js';
import { type RedisServer, startRedis } from '../../../support/redis-server.js';
import { ModelRedis, type ScriptCall, type ScriptReply } from './model-redis.js';

type Client = ReturnType<RedisServer['client']>;

/** A life that does not end while a test runs, and one that is over before the next command. */
const LONG_MS = 3_600_000;
const OVER_MS = 1;

/** One thing done to the real server and to the model alike. */
type Deed =
  | {
      readonly kind: 'call';
      readonly name: ScriptCall['name'];
      readonly token: number;
      readonly fenced: boolean;
    }
  | {
      readonly kind: 'set';
      readonly what: 'lock' | 'fence';
      readonly value: string;
      readonly lifeMs: number | undefined;
    }
  | { readonly kind: 'hash' | 'delete' | 'persist' | 'expire'; readonly what: 'lock' | 'fence' }
  | { readonly kind: 'flush' };

const what = fc.constantFrom('lock' as const, 'fence' as const);
const number16 = fc
  .constantFrom(
    '0',
    '1',
    '42',
    '1700000000000000',
    '9000000000000000',
    '9007199254740990',
    '9007199254740991',
    '9007199254740992',
  )
  .map((digits) => digits.padStart(16, '0'));
const fenceText = fc.oneof(
  fc.tuple(number16, number16).map((pair) => pair.join(' ')),
  fc.constantFrom('', '42', 'x 1', '42 43', `${'0'.repeat(16)} ${'x'.repeat(16)}`, '0'.repeat(33)),
);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      name: fc.constantFrom('acquire', 'acquire', 'renew', 'release', 'check'),
      token: fc.nat(2),
      fenced: fc.oneof(
        { weight: 4, arbitrary: fc.constant(true) },
        { weight: 1, arbitrary: fc.constant(false) },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      what: fc.constant('fence' as const),
      value: fenceText,
      lifeMs: fc.constantFrom(undefined, LONG_MS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      what: fc.constant('lock' as const),
      value: fc.constantFrom('token-0', 'token-1', 'somebody', ''),
      lifeMs: fc.constantFrom(undefined, LONG_MS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('hash', 'delete', 'persist', 'expire'), what }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush') }) },
);

/** Names of one sequence, which no other uses. */
interface Names {
  readonly lock: string;
  readonly fence: string;
}

function callOf({ name, token, fenced }: Deed & { kind: 'call' }, names: Names): ScriptCall {
  const args = { key: names.lock, fenceKey: fenced ? names.fence : null, token: `token-${token}` };
  return { name, args: { ...args, leaseMs: LONG_MS, fenceTtlMs: LONG_MS } } as ScriptCall;
}

function runReal(redis: Client, scripts: LockScripts, call: ScriptCall): Promise<ScriptReply> {
  switch (call.name) {
    case 'acquire':
      return scripts.acquire(redis, call.args);
    case 'renew':
      return scripts.renew(redis, call.args);
    case 'release':
      return scripts.release(redis, call.args);
    case 'check':
      return scripts.check(redis, call.args);
    default:
      return call satisfies never;
  }
}

async function realUs(redis: Client): Promise<number> {
  const [seconds, us] = await redis.time();
  return Number(seconds) * 1_000_000 + Number(us);
}

/** The real server. Each of its answers carries its clock, by which the model then runs the same deed. */
async function doOnReal(redis: Client, scripts: LockScripts, one: Deed, names: Names) {
  switch (one.kind) {
    case 'call':
      return runReal(redis, scripts, callOf(one, names));
    case 'set':
      if (one.lifeMs === undefined) await redis.set(names[one.what], one.value);
      else await redis.set(names[one.what], one.value, 'PX', one.lifeMs);
      return undefined;
    case 'hash':
      await redis.multi().del(names[one.what]).hset(names[one.what], 'field', '1').exec();
      return undefined;
    case 'delete':
      await redis.del(names[one.what]);
      return undefined;
    case 'persist':
      await redis.persist(names[one.what]);
      return undefined;
    case 'expire':
      // In the past: gone at once, as if its time were over.
      await redis.pexpireat(names[one.what], OVER_MS);
      return undefined;
    case 'flush':
      await redis.del(names.lock, names.fence);
      return undefined;
    default:
      return one satisfies never;
  }
}

function doOnModel(model: ModelRedis, one: Deed, names: Names): ScriptReply | undefined {
  switch (one.kind) {
    case 'call':
      return model.run(callOf(one, names));
    case 'set':
      model.set(names[one.what], one.value, one.lifeMs);
      return undefined;
    case 'hash':
      model.set(names[one.what], undefined);
      return undefined;
    case 'persist':
      model.persist(names[one.what]);
      return undefined;
    case 'delete':
    case 'expire':
      model.delete(names[one.what]);
      return undefined;
    case 'flush':
      model.flush();
      return undefined;
    default:
      return one satisfies never;
  }
}

let server: RedisServer;
let redis: Client;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server?.stop());

it('answers as the real scripts do, word by word and field by field', async () => {
  const scripts = loadLockScripts();
  const words = new Set<string>();
  let sequence = 0;
  const answersAlike = async (deeds: readonly Deed[]) => {
    sequence += 1;
    const names = { lock: `lock:${sequence}`, fence: fenceKey(`lock:${sequence}`) };
    let nowUs = await realUs(redis);
    const model = new ModelRedis('model', () => nowUs);
    for (const one of deeds) {
      const real = await doOnReal(redis, scripts, one, names);
      if (real !== undefined && 'serverUs' in real) nowUs = real.serverUs;
      const modelled = doOnModel(model, one, names);
      if (one.kind === 'call') words.add(`${one.name} ${real?.word}`);
      expect(timeless(modelled)).toEqual(timeless(real));
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 25 }), answersAlike), {
    seed: 20_240_101,
    numRuns: 150,
  });
  expect([...words].sort()).toEqual([
    ...['acquire granted', 'acquire held', 'acquire own', 'acquire wrong_type'],
    ...['check expired', 'check held', 'check stolen', 'check wrong_type'],
    ...['release expired', 'release released', 'release stolen', 'release wrong_type'],
    ...['renew expired', 'renew renewed', 'renew stolen', 'renew wrong_type'],
  ]);
});

it('lets a key live through the very millisecond of its end, and no longer, as Redis does', async () => {
  const key = 'lock:edge';
  await redis.set(key, 'token', 'PX', 30);
  const endUs = ((await redis.pexpiretime(key)) + 1) * 1000;
  for (let isThere = true; isThere; ) {
    const beforeUs = await realUs(redis);
    isThere = (await redis.exists(key)) === 1;
    const afterUs = await realUs(redis);
    if (isThere) expect(beforeUs).toBeLessThan(endUs);
    else expect(afterUs).toBeGreaterThanOrEqual(endUs);
  }
  let nowUs = 1_700_000_000_000_999;
  const model = new ModelRedis('model', () => nowUs);
  model.set(key, 'token', 30);
  nowUs = ((model.endMsOf(key) ?? 0) + 1) * 1000 - 1;
  expect(model.valueOf(key)).toBe('token');
  nowUs += 1;
  expect(model.valueOf(key)).toBeUndefined();
});

/** Lives are compared to the second, since time goes on between two deeds on the real server. */
function timeless(reply: ScriptReply | undefined) {
  if (reply === undefined || !('leftMs' in reply) || reply.leftMs === null) return reply;
  return { ...reply, leftMs: Math.round(reply.leftMs / 60_000) };
}
