import type { Clock } from '../../contract/clock.js';
import { ownerDigest } from '../../contract/lock-id.js';
import type { BatchCommand, SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import type { ReadServerId } from './server-id.js';
import { costBetween, readTimeUs } from './server-time.js';
import { type KeyFacts, MAX_VALUE_BYTES, StepFailure } from './step.js';

/** Most keys to ask about in one look: some hundred µs of the server, with other clients' commands between two looks. */
export const KEYS_PER_LOOK = 100;

/** When, by which server's clock. */
export interface ServerMoment {
  readonly serverUs: number;
  /** Its run id; `null` where INFO or TIME is not allowed: then no other time of the server may be compared with this one. */
  readonly serverId: string | null;
}

/** What became of one key that was asked for. `elsewhere`: another node has its slot, so nothing is known. */
export interface KeySight {
  readonly state: 'there' | 'gone' | 'elsewhere';
  /** Of a key that is there. Perhaps one and the same object for all keys: not to be kept. */
  readonly seen: KeyFacts;
}

/** In the order in which the keys were asked for. */
export interface KeySights {
  forEach(take: (sight: KeySight, at: number) => void): void;
}

/** What a look at keys saw. */
export interface KeysSeen {
  readonly moment: ServerMoment;
  readonly sights: KeySights;
  /** What it cost the server, in µs; an upper bound where it could not be measured there. */
  readonly costUs: number;
}

/**
 * Looks at keys of one server by name, at most {@link KEYS_PER_LOOK} of them. Of no keys, it asks whether the server
 * answers at all. Rejects with {@link StepFailure} and with nothing else.
 */
export type KeyLook = (keys: readonly Buffer[]) => Promise<KeysSeen>;

/** Looks by plain commands: value and remaining life of each key in one write, one directly after the other. */
export function createKeyLook(
  redis: Pick<SampleRedis, 'batch'>,
  clock: Clock,
  readServerId: ReadServerId,
): KeyLook {
  return async (keys) => lookAtSome(keys, redis, clock, await readServerId());
}

async function lookAtSome(
  keys: readonly Buffer[],
  redis: Pick<SampleRedis, 'batch'>,
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
  const sights = keys.map((_key, at) => readSight(replies[at * 2 + 1], replies[at * 2 + 2]));
  const typed = await nameTypes(keys, sights, redis);
  const costUs = costBetween(beforeUs, afterUs, roundTripUs);
  return { moment: { serverUs, serverId: afterUs === null ? null : serverId }, sights: typed, costUs };
}

/** A user that may not ask for the time is answered all the same. */
function failIfSilent(time: unknown): void {
  const reason = time instanceof Error ? redisReasonOf(time) : undefined;
  if (reason !== undefined && reason !== 'no_permission') throw new StepFailure(reason, { cause: time });
}

const NOTHING: KeyFacts = Object.freeze({ leftMs: null, type: null, owner: null });

function readSight(value: unknown, left: unknown): KeySight {
  if ([value, left].some((reply) => reply instanceof Error && redisReasonOf(reply) === 'moved')) {
    return { state: 'elsewhere', seen: NOTHING };
  }
  if (typeof left !== 'number') {
    throw new StepFailure(left instanceof Error ? redisReasonOf(left) : 'bad_reply', { cause: left });
  }
  if (left === -2) return { state: 'gone', seen: NOTHING };
  const leftMs = left < 0 ? null : left;
  return { state: 'there', seen: { leftMs, type: typeOf(value), owner: ownerOf(value) } };
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
  keys: readonly Buffer[],
  sights: readonly KeySight[],
  redis: Pick<SampleRedis, 'batch'>,
): Promise<readonly KeySight[]> {
  const unnamed = keys.filter((_key, at) => isUnnamed(sights[at]));
  if (unnamed.length === 0) return sights;
  const replies = await redis.batch(unnamed.map((key): BatchCommand => ['TYPE', key]));
  const types = replies.values();
  return sights.map((sight) => {
    if (!isUnnamed(sight)) return sight;
    const type: unknown = types.next().value;
    const { seen } = sight;
    return { ...sight, seen: { ...seen, type: Buffer.isBuffer(type) ? type.toString('latin1') : null } };
  });
}

function isUnnamed(sight: KeySight | undefined): boolean {
  return sight?.state === 'there' && sight.seen.type === null;
}
