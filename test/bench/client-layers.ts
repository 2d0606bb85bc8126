import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { createLockConnection, noEmitter } from '../../client/index.js';
import { TokenSource } from '../../client/tokens.js';
import { loadLockScripts } from '../../lua/scripts.js';
import { startRedis } from '../support/redis-server.js';
import { bareCandidate, ownCandidate } from './client-candidates.js';
import { type BenchResult, judge } from './result.js';
import { type Candidate, measureInRounds, type RoundPlan } from './rounds.js';
import { median, ratios } from './statistics.js';

const LEASE_MS = 30_000;
const FENCE_TTL_MS = 3_600_000;

const TRIVIAL_ACQUIRE = "return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX')";
const TRIVIAL_RELEASE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/** Where the time of one caller goes: each candidate adds one layer to the one before. Told, not judged. */
export async function runClientLayersBench(plan: Omit<RoundPlan, 'callers'>): Promise<BenchResult[]> {
  const server = await startRedis();
  const connections: Redis[] = [];
  try {
    const connect = async () => {
      const redis = createLockConnection({ port: server.port, lazyConnect: true });
      connections.push(redis);
      await redis.connect();
      return redis;
    };
    const candidates = await makeLayers(connect);
    const turns = await measureInRounds(candidates, { ...plan, callers: 1 });
    const bare = turns.get('bare')?.rates ?? [];
    return [...turns].map(([name, { rates, cpuUs }]) =>
      judge('client-layers', `1 caller: ${name}, against bare`, ratios(rates, bare), null, {
        microseconds: toTenths(1_000_000 / median(rates)),
        leastMicroseconds: toTenths(1_000_000 / Math.max(...rates)),
        cpuUs: toTenths(median(cpuUs)),
      }),
    );
  } finally {
    for (const connection of connections) connection.disconnect();
    await server.stop();
  }
}

async function makeLayers(connect: () => Promise<Redis>): Promise<Candidate[]> {
  return [
    await bareCandidate(await connect()),
    await scriptsByHand('trivial scripts', await connect(), TRIVIAL_ACQUIRE, TRIVIAL_RELEASE),
    await scriptsByHand('our scripts', await connect(), readScript('acquire'), readScript('release')),
    bindings(await connect()),
    ownCandidate('client', await connect(), false, noEmitter()),
  ];
}

function readScript(name: string): string {
  return readFileSync(new URL(`../../lua/${name}.lua`, import.meta.url), 'utf8');
}

async function scriptsByHand(
  name: string,
  redis: Redis,
  acquire: string,
  release: string,
): Promise<Candidate> {
  const acquireSha = String(await redis.script('LOAD', acquire));
  const releaseSha = String(await redis.script('LOAD', release));
  const tokens = new TokenSource();
  return {
    name,
    run: async (caller) => {
      const key = `lock:${name}:${caller}`;
      const token = tokens.next();
      await redis.evalsha(acquireSha, 1, key, token, LEASE_MS, FENCE_TTL_MS);
      await redis.evalsha(releaseSha, 1, key, token);
    },
  };
}

function bindings(redis: Redis): Candidate {
  const scripts = loadLockScripts();
  const tokens = new TokenSource();
  return {
    name: 'bindings',
    run: async (caller) => {
      // Written out: an object spread costs a lone caller more than the whole binding.
      const lock = {
        key: `lock:bindings:${caller}`,
        fenceKey: null,
        token: tokens.next(),
        leaseMs: LEASE_MS,
        fenceTtlMs: FENCE_TTL_MS,
      };
      await scripts.acquire(redis, lock);
      await scripts.release(redis, lock);
    },
  };
}

function toTenths(value: number): number {
  return Math.round(value * 10) / 10;
}
