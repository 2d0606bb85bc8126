import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { runClientBench } from './client.js';
import { runClientLayersBench } from './client-layers.js';
import { runIngestBench } from './ingest.js';
import { runMemoryBench } from './memory.js';
import type { BenchResult } from './result.js';
import type { RoundPlan } from './rounds.js';
import { runSamplerBench } from './sampler.js';
import { runScrapeBench } from './scrape.js';
import type { ValueResult } from './value-result.js';

type Bench = (plan: Omit<RoundPlan, 'callers'>) => Promise<(BenchResult | ValueResult)[]>;

const BENCHES: Readonly<Record<string, Bench>> = {
  client: runClientBench,
  'client-layers': runClientLayersBench,
  ingest: runIngestBench,
  sampler: runSamplerBench,
  scrape: runScrapeBench,
  memory: runMemoryBench,
};

/** Bars held, a bar missed, or no measurement. */
const EXIT = { passed: 0, missed: 1, unable: 2 } as const;

/**
 * Runs the benches named, or all, and prints their results, one JSON line each.
 * @returns the exit code
 */
export async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '31' },
      'turn-ms': { type: 'string', default: '200' },
    },
  });
  const names = positionals.length === 0 ? Object.keys(BENCHES) : positionals;
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
  const plan = { rounds: Number(values.rounds), turnMs: Number(values['turn-ms']) };
  if (unknown.length > 0 || !(plan.rounds >= 1) || !(plan.turnMs >= 1)) {
    process.stderr.write(
      `usage: npm run bench -- [${Object.keys(BENCHES).join('|')}] [--rounds N] [--turn-ms N]\n`,
    );
    return EXIT.unable;
  }
  print({ machine: describeMachine(), ...plan });
  let passed = true;
  for (const name of names) {
    for (const result of (await BENCHES[name]?.(plan)) ?? []) {
      print(result);
      passed &&= result.pass;
    }
  }
  return passed ? EXIT.passed : EXIT.missed;
}

/** The load tells how much else the machine did. */
function describeMachine(): Record<string, unknown> {
  const [cpu] = cpus();
  const load = Math.round((loadavg()[0] ?? 0) * 100) / 100;
  return { cpu: cpu?.model, cores: cpus().length, node: process.version, load };
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
