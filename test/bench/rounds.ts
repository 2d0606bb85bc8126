import type { Random } from '../../contract/clock.js';
import { seededRandom } from '../support/clocks.js';

/** One of several ways to do the same thing, to be compared. */
export interface Candidate {
  readonly name: string;
  /** Does it once. `caller` is 0 to callers - 1; two calls of one caller never overlap. */
  run(caller: number): Promise<unknown>;
  /** After a turn, outside its time but within its CPU time: lets end what goes on in the background. */
  settle?(): Promise<void>;
}

/** How long a comparison takes. */
export interface RoundPlan {
  /** Measured rounds; one more is run before them to warm up. */
  readonly rounds: number;
  /** Length of each candidate's turn in a round, in ms. */
  readonly turnMs: number;
  readonly callers: number;
}

/** What the turns of one candidate measured, in the order of the rounds. */
export interface Turns {
  /** Runs a second. */
  readonly rates: number[];
  /** CPU time of this process for one run, in µs, settling included: nearly free of what else the machine does. */
  readonly cpuUs: number[];
}

/**
 * Lets all candidates take one turn in each round, so that what else the machine does hits them alike. Each round has
 * an order of its own: what a turn leaves behind (garbage, a busy exporter, the scheduler's displeasure) falls on
 * whoever comes next.
 */
export async function measureInRounds(
  candidates: readonly Candidate[],
  plan: RoundPlan,
  random: Random = seededRandom(1),
): Promise<ReadonlyMap<string, Turns>> {
  const measured = new Map<string, Turns>(candidates.map(({ name }) => [name, { rates: [], cpuUs: [] }]));
  for (let round = -1; round < plan.rounds; round += 1) {
    for (const candidate of shuffle(candidates, random)) {
      const turn = await takeTurn(candidate, plan);
      if (round < 0) continue;
      measured.get(candidate.name)?.rates.push(turn.rate);
      measured.get(candidate.name)?.cpuUs.push(turn.cpuUs);
    }
  }
  return measured;
}

/** The time of a turn ends when the last run that began in it has ended. */
async function takeTurn(candidate: Candidate, { turnMs, callers }: RoundPlan) {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + turnMs;
  let runs = 0;
  const call = async (caller: number): Promise<void> => {
    while (performance.now() < endMs) {
      await candidate.run(caller);
      runs += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  const tookMs = performance.now() - startMs;
  await candidate.settle?.();
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (runs * 1000) / tookMs, cpuUs: (user + system) / runs };
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
