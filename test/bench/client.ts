import type { Redis } from 'ioredis';
import { createHttpEmitter, createLockConnection, noEmitter } from '../../client/index.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import {
  bareCandidate,
  ownCandidate,
  redisSemaphoreCandidate,
  redlockCandidate,
  redlockUniversalCandidate,
} from './client-candidates.js';
import { type BenchResult, judge } from './result.js';
import { type Candidate, measureInRounds, type RoundPlan, type Turns } from './rounds.js';
import { median, ratios } from './statistics.js';
import { type TelemetryFacts, TelemetryGauge } from './telemetry-gauge.js';

const PEERS = ['redlock', 'redis-semaphore', 'redlock-universal'];
const MANY_CALLERS = 64;

/** DESIGN, section 10: telemetry on, against the bare commands on a connection of the same kind. */
const BARS = { one: { plain: 0.9, fence: 0.9 }, many: { plain: 0.8, fence: 0.7 } } as const;

/** Acquire and release with our client, with the bare commands, and with the peers. */
export async function runClientBench(plan: Omit<RoundPlan, 'callers'>): Promise<BenchResult[]> {
  const redis = await startRedis();
  const exporter = await startExporterProcess(['--redis-url', redis.url, '--sample-mode', 'off']);
  try {
    return [
      ...(await measureCallers(redis, exporter, { ...plan, callers: 1 })),
      ...(await measureCallers(redis, exporter, { ...plan, callers: MANY_CALLERS })),
    ];
  } finally {
    await exporter.process.kill('SIGKILL');
    await redis.stop();
  }
}

async function measureCallers(
  redis: RedisServer,
  exporter: ExporterProcess,
  plan: RoundPlan,
): Promise<BenchResult[]> {
  const connections: Redis[] = [];
  try {
    const field = await makeField(exporter, () => connectReady(redis.port, connections));
    const turns = await measureInRounds(field.candidates, plan);
    const compare = (own: string, other: string, bar: number | null) =>
      against(turns, plan, own, other, bar, field.gauges.get(own)?.facts);
    const bars = plan.callers === 1 ? BARS.one : BARS.many;
    return [
      compare('telemetry', 'bare', bars.plain),
      compare('fence+telemetry', 'bare', bars.fence),
      compare('silent', 'bare', null),
      compare('fence, silent', 'bare', null),
      ...PEERS.flatMap((peer) => [compare('telemetry', peer, 1), compare('fence+telemetry', peer, 1)]),
    ];
  } finally {
    for (const connection of connections) connection.disconnect();
  }
}

interface Field {
  readonly candidates: readonly Candidate[];
  /** By the name of the candidate. */
  readonly gauges: ReadonlyMap<string, TelemetryGauge>;
}

/** Each with a connection of its own, all made alike. */
async function makeField(exporter: ExporterProcess, connect: () => Promise<Redis>): Promise<Field> {
  const gauges = new Map<string, TelemetryGauge>();
  const telling = async (name: string, fence: boolean): Promise<Candidate> => {
    const gauge = new TelemetryGauge(createHttpEmitter({ url: exporter.localUrl, app: 'bench' }));
    gauges.set(name, gauge);
    return { ...ownCandidate(name, await connect(), fence, gauge), settle: () => gauge.settle() };
  };
  const candidates = [
    await bareCandidate(await connect()),
    await telling('telemetry', false),
    await telling('fence+telemetry', true),
    ownCandidate('silent', await connect(), false, noEmitter()),
    ownCandidate('fence, silent', await connect(), true, noEmitter()),
    await redlockCandidate(await connect()),
    redisSemaphoreCandidate(await connect()),
    redlockUniversalCandidate(await connect()),
  ];
  return { candidates, gauges };
}

/** Without an offline queue, nothing may be sent before it is ready. */
async function connectReady(port: number, connections: Redis[]): Promise<Redis> {
  const redis = createLockConnection({ port, lazyConnect: true });
  connections.push(redis);
  await redis.connect();
  return redis;
}

/** Also fails when events were lost: telemetry that is thrown away costs nothing. */
function against(
  turns: ReadonlyMap<string, Turns>,
  { callers }: RoundPlan,
  own: string,
  other: string,
  bar: number | null,
  telemetry?: TelemetryFacts,
): BenchResult {
  const nothing: Turns = { rates: [], cpuUs: [] };
  const [ours, theirs] = [turns.get(own) ?? nothing, turns.get(other) ?? nothing];
  const name = `${callers === 1 ? '1 caller' : `${callers} callers`}: ${own}, against ${other}`;
  const result = judge('client', name, ratios(ours.rates, theirs.rates), bar, {
    locksPerSecond: Math.round(median(ours.rates)),
    otherPerSecond: Math.round(median(theirs.rates)),
    cpuUs: toTenths(median(ours.cpuUs)),
    otherCpuUs: toTenths(median(theirs.cpuUs)),
    ...(telemetry && { eventsLost: telemetry.lost, eventsLeftShare: telemetry.leftShare }),
  });
  return telemetry && telemetry.lost > 0 ? { ...result, pass: false } : result;
}

function toTenths(value: number): number {
  return Math.round(value * 10) / 10;
}
