import type { Clock } from '../../contract/clock.js';
import type { SampleConnection } from '../../lua/connection.js';
import type { LockScripts } from '../../lua/scripts.js';
import type { SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import { MAX_VALUE_BYTES, type SampleStep, StepFailure } from './step.js';

/** What the step needs of the script bindings. */
export type SampleScript = Pick<LockScripts, 'sample'>;

/**
 * Looks by the `sample` script: one round trip, one moment in time. The script's cost is measured on the server:
 * TIME before and after it, in one write, so that nothing of this connection comes between.
 */
export function createScriptStep(redis: SampleRedis, scripts: SampleScript, clock: Clock): SampleStep {
  return async ({ cursor, lockKeys, count }) => {
    const { pattern, exact } = lockKeys;
    const prefixes = exact ? [] : lockKeys.prefixes;
    const meter = new ServerMeter(redis, clock);
    try {
      const args = { cursor, pattern, count, withOwners: true, maxValueBytes: MAX_VALUE_BYTES, prefixes };
      return { ...(await scripts.sample(meter, args)), costUs: meter.costUs };
    } catch (error) {
      throw new StepFailure(redisReasonOf(error), { cause: error });
    }
  };
}

/** Runs commands and adds up what they cost the server. */
class ServerMeter implements SampleConnection {
  readonly #redis: SampleRedis;
  readonly #clock: Clock;
  #costUs = 0;

  constructor(redis: SampleRedis, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
  }

  get costUs(): number {
    return this.#costUs;
  }

  async callBuffer(command: string, ...args: (string | Buffer | number)[]): Promise<unknown> {
    const sentMs = this.#clock.monoMs();
    const [before, reply, after] = await this.#redis.batch([['TIME'], [command, ...args], ['TIME']]);
    const roundTripUs = (this.#clock.monoMs() - sentMs) * 1000;
    this.#costUs += costBetween(readTimeUs(before), readTimeUs(after), roundTripUs);
    if (reply instanceof Error) throw reply;
    return reply;
  }
}

/** A server's clock that was set meanwhile gives nonsense: the round trip is then the upper bound. */
function costBetween(beforeUs: number | null, afterUs: number | null, roundTripUs: number): number {
  if (beforeUs === null || afterUs === null) return roundTripUs;
  const costUs = afterUs - beforeUs;
  return costUs < 0 || costUs > roundTripUs ? roundTripUs : costUs;
}

/** Reads TIME's reply, in µs since the epoch; `null` for anything else. */
export function readTimeUs(reply: unknown): number | null {
  if (!Array.isArray(reply)) return null;
  const us = Number(reply[0]) * 1_000_000 + Number(reply[1]);
  return Number.isSafeInteger(us) ? us : null;
}
