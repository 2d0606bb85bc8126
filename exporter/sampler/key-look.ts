import type { Clock } from '../../contract/clock.js';
import { ownerDigest } from '../../contract/lock-id.js';
import type { BatchCommand, SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import { costBetween, readTimeUs } from './server-time.js';
import { type KeyFacts, MAX_VALUE_BYTES, StepFailure } from './step.js';

/** Most keys asked about in one write: some hundred µs of the server, with other clients' commands between them. */
const KEYS_PER_WRITE = 100;

/** When, by which server's clock. */
export interface ServerMoment {
  readonly serverUs: number;
  /** Its run id; `null` where INFO is not allowed. */
  readonly serverId: string | null;
}

/** What became of one key that was asked for. `elsewhere`: another node has its slot, so nothing is known. */
export type KeySight =
  | ({ readonly state: 'there'; readonly seen: KeyFacts & { readonly key: Buffer } } & ServerMoment)
  | ({ readonly state: 'gone' } & ServerMoment)
  | { readonly state: 'elsewhere' };

/** What a look at keys saw. */
export interface KeysSeen {
  /** In the order in which the keys were asked for. */
  readonly sights: readonly KeySight[];
  /** What it cost the server, in µs; an upper bound where it could not be measured there. */
  readonly costUs: number;
}

/**
 * Looks at keys of one server by name. Of no keys, it asks whether the server answers at all. Rejects with
 * {@link StepFailure} and with nothing else.
 */
export type KeyLook = (keys: readonly Buffer[]) => Promise<KeysSeen>;

/** What a look needs of a connection. */
type LookRedis = Pick<SampleRedis, 'batch' | 'connections'>;

/** Looks by plain commands: value and remaining life of each key in one write, one directly after the other. */
export function createKeyLook(redis: LookRedis, clock: Clock): KeyLook {
  const readServerId = serverIdReader(redis);
  return async (keys) => {
    const serverId = await readServerId();
    const sights: KeySight[] = [];
    let costUs = 0;
    let at = 0;
    do {
      const part = await lookAtSome(keys.slice(at, at + KEYS_PER_WRITE), redis, clock, serverId);
      sights.push(...part.sights);
      costUs += part.costUs;
      at += KEYS_PER_WRITE;
    } while (at < keys.length);
    return { sights, costUs };
  };
}

/** Asks once for each connection: a restarted server has another id. */
function serverIdReader(redis: LookRedis): () => Promise<string | null> {
  let known: { connection: number; id: string | null } | undefined;
  return async () => {
    const connection = redis.connections();
    if (known?.connection === connection) return known.id;
    const [reply] = await redis.batch([['INFO', 'server']]);
    const id = Buffer.isBuffer(reply)
      ? (/^run_id:(\w{1,40})\r?$/m.exec(reply.toString('latin1'))?.[1] ?? null)
      : null;
    const refused = reply instanceof Error && redisReasonOf(reply) === 'no_permission';
    if (id !== null || refused) known = { connection, id };
    return id;
  };
}

async function lookAtSome(
  keys: readonly Buffer[],
  redis: LookRedis,
  clock: Clock,
  serverId: string | null,
): Promise<KeysSeen> {
  const sentMs = clock.monoMs();
  const ask = keys.flatMap((key): BatchCommand[] => [
    ['GETRANGE', key, 0, MAX_VALUE_BYTES],
    ['PTTL', key],
  ]);
  const replies = await redis.batch([['TIME'], ...ask, ['TIME']]);
  const roundTripUs = (clock.monoMs() - sentMs) * 1000;
  failIfSilent(replies[0]);
  const [beforeUs, afterUs] = [readTimeUs(replies[0]), readTimeUs(replies.at(-1))];
  // TIME may be forbidden; the look is then dated by this machine's clock.
  const serverUs = afterUs ?? Math.round(clock.wallMs() * 1000);
  const sights = keys.map((key, at) =>
    readSight(key, replies[at * 2 + 1], replies[at * 2 + 2], { serverUs, serverId }),
  );
  const typed = await nameTypes(sights, redis);
  return { sights: typed, costUs: costBetween(beforeUs, afterUs, roundTripUs) };
}

/** A user that may not ask for the time is answered all the same. */
function failIfSilent(time: unknown): void {
  const reason = time instanceof Error ? redisReasonOf(time) : undefined;
  if (reason !== undefined && reason !== 'no_permission') throw new StepFailure(reason, { cause: time });
}

function readSight(key: Buffer, value: unknown, left: unknown, moment: ServerMoment): KeySight {
  if ([value, left].some((reply) => reply instanceof Error && redisReasonOf(reply) === 'moved')) {
    return { state: 'elsewhere' };
  }
  if (typeof left !== 'number') {
    throw new StepFailure(left instanceof Error ? redisReasonOf(left) : 'bad_reply', { cause: left });
  }
  if (left === -2) return { state: 'gone', ...moment };
  const leftMs = left < 0 ? null : left;
  const seen = { key, leftMs, type: typeOf(value), owner: ownerOf(value) };
  return { state: 'there', seen, ...moment };
}

/** `null`: not known yet. */
function typeOf(value: unknown): string | null {
  if (Buffer.isBuffer(value)) return 'string';
  if (value instanceof Error && redisReasonOf(value) === 'wrong_type') return null;
  throw new StepFailure(value instanceof Error ? redisReasonOf(value) : 'bad_reply', { cause: value });
}

/** An empty value may also be a key that was not there yet when it was read, so it says nothing. */
function ownerOf(value: unknown): string | null {
  const readable = Buffer.isBuffer(value) && value.length > 0 && value.length <= MAX_VALUE_BYTES;
  return readable ? ownerDigest(value) : null;
}

/** Few keys, if any: a lock key that holds something else than a string. */
async function nameTypes(
  sights: readonly KeySight[],
  redis: Pick<SampleRedis, 'batch'>,
): Promise<readonly KeySight[]> {
  const unnamed = sights.flatMap((sight) =>
    sight.state === 'there' && sight.seen.type === null ? [sight.seen.key] : [],
  );
  if (unnamed.length === 0) return sights;
  const replies = await redis.batch(unnamed.map((key): BatchCommand => ['TYPE', key]));
  const types = new Map(unnamed.map((key, at) => [key, replies[at]] as const));
  return sights.map((sight) => {
    if (sight.state !== 'there' || sight.seen.type !== null) return sight;
    const type = types.get(sight.seen.key);
    return {
      ...sight,
      seen: { ...sight.seen, type: Buffer.isBuffer(type) ? type.toString('latin1') : null },
    };
  });
}
