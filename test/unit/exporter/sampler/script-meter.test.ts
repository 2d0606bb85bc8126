import { expect, it } from 'vitest';
import { type MeteredRedis, ScriptMeter } from '../../../../exporter/sampler/script-meter.js';
import { FakeClock } from '../../../support/clocks.js';

const SCRIPT_US = 400;
const ROUND_TRIP_MS = 2;

/** A server whose scripts take 400 µs, 2 ms away. From Redis 7.2 on, its clock stands still while a script runs. */
function startServer(standsStill: boolean) {
  const clock = new FakeClock();
  const sent: string[][] = [];
  let nowUs = 1_796_000_000_000_000;
  const answer = (name: string): unknown => {
    if (name === 'TIME') return [String(Math.floor(nowUs / 1e6)), String(nowUs % 1e6)];
    nowUs += SCRIPT_US;
    return name === 'EVALSHA' ? { tookUs: standsStill ? 0 : SCRIPT_US } : new Error('NOSCRIPT');
  };
  const redis: MeteredRedis = {
    call: async ([name]) => {
      sent.push([name]);
      await clock.advance(ROUND_TRIP_MS);
      return answer(name);
    },
    batch: async (commands) => {
      sent.push(commands.map(([name]) => name));
      await clock.advance(ROUND_TRIP_MS);
      return commands.map(([name]) => answer(name));
    },
  };
  const meter = new ScriptMeter(redis, clock);
  const run = (command = 'EVALSHA') =>
    meter.measure(async ({ callBuffer }) => (await callBuffer(command)) as { tookUs: number });
  return { run, sent };
}

it('a script that can read the clock tells its cost itself, by one command', async () => {
  const { run, sent } = startServer(false);
  expect([(await run()).costUs, (await run()).costUs]).toEqual([SCRIPT_US, SCRIPT_US]);
  expect(sent).toEqual([['EVALSHA'], ['EVALSHA']]);
});

it('where the clock stands still in a script the way to the server is not taken for the cost (Redis 7.2)', async () => {
  const { run, sent } = startServer(true);
  expect((await run()).costUs).toBe(ROUND_TRIP_MS * 1000);
  expect([(await run()).costUs, (await run()).costUs]).toEqual([SCRIPT_US, SCRIPT_US]);
  expect(sent).toEqual([['EVALSHA'], ['TIME', 'EVALSHA', 'TIME'], ['TIME', 'EVALSHA', 'TIME']]);
});

it.each([false, true])('an error is one, with a clock that stands still or not: %s', async (standsStill) => {
  const { run } = startServer(standsStill);
  await run();
  await expect(run('EVAL')).rejects.toThrow('NOSCRIPT');
});
