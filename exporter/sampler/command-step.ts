import type { Clock } from '../../contract/clock.js';
import { ownerDigest } from '../../contract/lock-id.js';
import type { RedisReason } from '../../contract/outcomes.js';
import type { BatchCommand, SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import { readTimeUs } from './server-time.js';
import { MAX_VALUE_BYTES, type SampleStep, StepFailure, type StepKey } from './step.js';

/** Most keys asked about in one write: what a server does in one go grows with it. */
const KEYS_PER_WRITE = 200;

interface Found {
  readonly key: Buffer;
  readonly leftMs: number | null;
  readonly type: string;
}

/**
 * Looks by plain commands, where EVAL is not allowed: SCAN, then PTTL and TYPE of each key, then GETRANGE of the
 * strings (it reads no more of a long value than it must, unlike GET). Three round trips instead of one, and
 * several moments in time: a key may change between them. The cost is the round trips' time: an upper bound.
 */
export function createCommandStep(redis: Pick<SampleRedis, 'batch'>, clock: Clock): SampleStep {
  return async ({ cursor, lockKeys, count }) => {
    const look = new CommandLook(redis, clock);
    const next = await look.scan(cursor, lockKeys.pattern, count);
    const keys = await look.inspect(next.keys.filter((key) => lockKeys.matches(key.toString('latin1'))));
    const { serverUs, costUs, vanished, moved } = look;
    return { cursor: next.cursor, serverUs, costUs, vanished, moved, keys };
  };
}

class CommandLook {
  serverUs: number | null = null;
  costUs = 0;
  vanished = 0;
  moved = 0;
  readonly #redis: Pick<SampleRedis, 'batch'>;
  readonly #clock: Clock;

  constructor(redis: Pick<SampleRedis, 'batch'>, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
  }

  async scan(cursor: string, pattern: Buffer, count: number): Promise<{ cursor: string; keys: Buffer[] }> {
    const [reply, time] = await this.#send([['SCAN', cursor, 'MATCH', pattern, 'COUNT', count], ['TIME']]);
    // TIME may be forbidden; the look is then dated by this machine's clock.
    this.serverUs = readTimeUs(time);
    if (reply instanceof Error) throw failure(reply);
    const [next, keys]: unknown[] = Array.isArray(reply) ? reply : [];
    if (!Buffer.isBuffer(next) || !Array.isArray(keys) || !keys.every(Buffer.isBuffer)) {
      throw new StepFailure('bad_reply');
    }
    return { cursor: next.toString('latin1'), keys };
  }

  async inspect(keys: readonly Buffer[]): Promise<StepKey[]> {
    const seen: StepKey[] = [];
    for (let at = 0; at < keys.length; at += KEYS_PER_WRITE) {
      const found = await this.#lifeAndType(keys.slice(at, at + KEYS_PER_WRITE));
      const owners = await this.#owners(found.filter(({ type }) => type === 'string'));
      for (const { key, leftMs, type } of found) {
        const owner = owners.get(key) ?? null;
        seen.push({ bytes: key, start: 0, end: key.length, leftMs, type, owner });
      }
    }
    return seen;
  }

  async #lifeAndType(keys: readonly Buffer[]): Promise<Found[]> {
    const ask = keys.flatMap((key): BatchCommand[] => [
      ['PTTL', key],
      ['TYPE', key],
    ]);
    const replies = await this.#send([...ask, ['TIME']]);
    const laterMs = this.#msLater(replies.at(-1));
    return keys.flatMap((key, index) => {
      const [left, type] = [replies[index * 2], replies[index * 2 + 1]];
      if (this.#isElsewhere(left) || this.#isElsewhere(type)) return [];
      if (typeof left !== 'number' || !Buffer.isBuffer(type)) throw failure(left, type);
      const gone = left === -2 || type.toString('latin1') === 'none';
      if (gone) this.vanished += 1;
      return gone ? [] : [{ key, leftMs: left < 0 ? null : left + laterMs, type: type.toString('latin1') }];
    });
  }

  /** How much later than the SCAN this was, by the server's clock: lives left are counted from the SCAN. */
  #msLater(time: unknown): number {
    const nowUs = readTimeUs(time);
    return nowUs === null || this.serverUs === null ? 0 : (nowUs - this.serverUs) / 1000;
  }

  /** A value that cannot be read has no owner; that alone fails nothing. */
  async #owners(found: readonly Found[]): Promise<Map<Buffer, string>> {
    const replies = await this.#send(found.map(({ key }) => ['GETRANGE', key, 0, MAX_VALUE_BYTES]));
    const owners = new Map<Buffer, string>();
    for (const [index, { key }] of found.entries()) {
      const value = replies[index];
      const readable = Buffer.isBuffer(value) && value.length > 0 && value.length <= MAX_VALUE_BYTES;
      if (readable) owners.set(key, ownerDigest(value));
    }
    return owners;
  }

  async #send(commands: readonly BatchCommand[]): Promise<unknown[]> {
    if (commands.length === 0) return [];
    const sentMs = this.#clock.monoMs();
    const replies = await this.#redis.batch(commands);
    this.costUs += (this.#clock.monoMs() - sentMs) * 1000;
    return replies;
  }

  #isElsewhere(reply: unknown): boolean {
    const elsewhere = reply instanceof Error && redisReasonOf(reply) === 'moved';
    if (elsewhere) this.moved += 1;
    return elsewhere;
  }
}

function failure(...replies: readonly unknown[]): StepFailure {
  const error = replies.find((reply) => reply instanceof Error);
  const reason: RedisReason = error === undefined ? 'bad_reply' : redisReasonOf(error);
  return new StepFailure(reason, { cause: error });
}
