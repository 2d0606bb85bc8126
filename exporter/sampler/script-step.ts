import type { Clock } from '../../contract/clock.js';
import type { SampleConnection } from '../../lua/connection.js';
import type { LockScripts } from '../../lua/scripts.js';
import type { SampleRedis } from './connection.js';
import { redisReasonOf } from './redis-reason.js';
import { costBetween, readTimeUs } from './server-time.js';
import { MAX_VALUE_BYTES, type SampleStep, StepFailure } from './step.js';

/** What the step needs of the script bindings. */
export type SampleScript = Pick<LockScripts, 'sample'>;

/**
 * Looks by the `sample` script: one round trip, one moment in time. The script's cost is measured on the server:
 * TIME before and after it, in one write, so that nothing of this connection comes between.
 */
export function createScriptStep(
  redis: Pick<SampleRedis, 'batch'>,
  scripts: SampleScript,
  clock: Clock,
): SampleStep {
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
  readonly #redis: Pick<SampleRedis, 'batch'>;
  readonly #clock: Clock;
  #costUs = 0;

  constructor(redis: Pick<SampleRedis, 'batch'>, clock: Clock) {
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
