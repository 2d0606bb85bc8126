import type { Clock } from '../../contract/clock.js';
import type { SampleConnection } from '../../lua/connection.js';
import type { SampleRedis } from './connection.js';
import { costBetween, costOfScript, readTimeUs } from './server-time.js';

/** What the meter needs of a connection. */
export type MeteredRedis = Pick<SampleRedis, 'call' | 'batch'>;

/** A reply, and what it cost the server in µs; an upper bound where it could not be measured there. */
export interface Metered<Reply> {
  readonly reply: Reply;
  readonly costUs: number;
}

/**
 * Runs scripts and tells what they cost the server. A script reads the server's clock at its beginning and its end, which
 * takes no command besides. From Redis 7.2 on the clock stands still while a script runs (redis/redis#10300): once one has
 * said that it took nothing, TIME goes before and after the next ones, in one write, so that nothing of this connection
 * comes between. The round trip must not stand for the cost: over a network, steps would become tiny, and the share of the
 * server's time that sweeps may take would be spent by waiting.
 */
export class ScriptMeter {
  readonly #redis: MeteredRedis;
  readonly #clock: Clock;
  readonly #plain: SampleConnection;
  #standsStill = false;

  constructor(redis: MeteredRedis, clock: Clock) {
    this.#redis = redis;
    this.#clock = clock;
    this.#plain = { callBuffer: async (command, ...args) => orThrow(await redis.call([command, ...args])) };
  }

  /** @param run sends its commands over the connection that it is given. Rejects as it does */
  async measure<Reply extends { readonly tookUs: number }>(
    run: (connection: SampleConnection) => Promise<Reply>,
  ): Promise<Metered<Reply>> {
    if (this.#standsStill) return this.#measureAround(run);
    const sentMs = this.#clock.monoMs();
    const reply = await run(this.#plain);
    const roundTripUs = (this.#clock.monoMs() - sentMs) * 1000;
    this.#standsStill = reply.tookUs === 0;
    return { reply, costUs: costOfScript(reply.tookUs, roundTripUs) };
  }

  async #measureAround<Reply>(
    run: (connection: SampleConnection) => Promise<Reply>,
  ): Promise<Metered<Reply>> {
    let costUs = 0;
    const callBuffer: SampleConnection['callBuffer'] = async (command, ...args) => {
      const sentMs = this.#clock.monoMs();
      const [before, reply, after] = await this.#redis.batch([['TIME'], [command, ...args], ['TIME']]);
      const roundTripUs = (this.#clock.monoMs() - sentMs) * 1000;
      costUs += costBetween(readTimeUs(before), readTimeUs(after), roundTripUs);
      return orThrow(reply);
    };
    const reply = await run({ callBuffer });
    return { reply, costUs };
  }
}

function orThrow(reply: unknown): unknown {
  if (reply instanceof Error) throw reply;
  return reply;
}
