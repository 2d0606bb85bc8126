import { startExporterProcess } from '../support/exporter-process.js';
import { cpuMsOf } from './cpu-time.js';
import { HoldText } from './hold-text.js';
import { Poster } from './load.js';
import type { RoundPlan } from './rounds.js';
import { median } from './statistics.js';
import { judgeValue, type ValueResult } from './value-result.js';

const EVENTS_PER_BATCH = 500;
const HOLDS_PER_BATCH = EVENTS_PER_BATCH / 2;
const POSTERS = 4;
/** DESIGN, section 10, in events a second on one core. */
const BAR = 100_000;

interface Case {
  readonly name: string;
  /** Of each poster; no two share one. */
  readonly locks: number;
  readonly resources: number;
}

/** What the client's bench does, and locks as a larger application has them. */
const CASES: readonly Case[] = [
  { name: '64 hot locks', locks: 16, resources: 20 },
  { name: '5,000 locks of 200 resources', locks: 1250, resources: 200 },
];

/**
 * The whole way in over loopback HTTP on the built exporter: validation, dedupe, ledger, hot keys, metrics. Every hold
 * is a new one. Judged by the exporter's own CPU time, as the machine does other things too; the rate by the clock on
 * the wall is beside it.
 */
export async function runIngestBench(plan: Omit<RoundPlan, 'callers'>): Promise<ValueResult[]> {
  const results = [];
  for (const one of CASES) results.push(await measure(one, plan));
  return results;
}

async function measure(one: Case, plan: Omit<RoundPlan, 'callers'>): Promise<ValueResult> {
  const exporter = await startExporterProcess(['--sample-mode', 'off']);
  const load = Array.from({ length: POSTERS }, (_, index) => new Load(exporter.localUrl, index, one));
  const turn = () => takeTurn(load, exporter.process.pid, plan.turnMs);
  try {
    for (let warmUp = 0; warmUp < 3; warmUp += 1) await turn();
    const turns = [];
    for (let round = 0; round < plan.rounds; round += 1) turns.push(await turn());
    const parse = parseRate(load[0]?.body() ?? '', plan.turnMs);
    const perCpu = turns.map(({ perCpuSecond }) => perCpuSecond);
    const target = {
      bench: 'ingest',
      unit: 'events per CPU second',
      bar: BAR,
      direction: 'at_least',
    } as const;
    return judgeValue(
      { ...target, case: `batches of ${EVENTS_PER_BATCH}, whole path, ${one.name}` },
      perCpu,
      {
        eventsPerSecond: Math.round(median(turns.map(({ perSecond }) => perSecond))),
        cpuUsPerEvent: Math.round(1e8 / median(perCpu)) / 100,
        ratioToJsonParse: Math.round((1000 * median(perCpu)) / parse) / 1000,
        jsonParseEventsPerSecond: Math.round(parse),
      },
    );
  } finally {
    for (const one of load) one.close();
    await exporter.process.kill('SIGKILL');
  }
}

/** One client, with locks of its own, in the order of Redis's clock. */
class Load {
  readonly #poster: Poster;
  readonly #locks: readonly HoldText[];
  readonly #firstHold: number;
  #holds = 0;

  constructor(url: string, index: number, { locks, resources }: Case) {
    this.#poster = new Poster(url, `${index}`);
    this.#locks = Array.from({ length: locks }, (_, lock) => new HoldText(index * locks + lock, resources));
    this.#firstHold = index * 1e9;
  }

  async post(): Promise<void> {
    await this.#poster.post(this.#template());
  }

  body(): string {
    return this.#template().join('1');
  }

  close(): void {
    this.#poster.close();
  }

  #template(): readonly [string, string] {
    const texts: string[] = [];
    for (let made = 0; made < HOLDS_PER_BATCH; made += 1) {
      this.#holds += 1;
      const lock = this.#locks[this.#holds % this.#locks.length];
      if (lock) texts.push(lock.write(this.#firstHold + this.#holds));
    }
    const [before, after] = this.#poster.template([]);
    return [before, after.replace(/\]\}$/, `${texts.join(',')}]}`)];
  }
}

async function takeTurn(load: readonly Load[], pid: number, turnMs: number) {
  const [cpuMs, startMs] = [cpuMsOf(pid), performance.now()];
  let batches = 0;
  await Promise.all(
    load.map(async (one) => {
      while (performance.now() - startMs < turnMs) {
        await one.post();
        batches += 1;
      }
    }),
  );
  const events = batches * EVENTS_PER_BATCH;
  return {
    perSecond: (events * 1000) / (performance.now() - startMs),
    perCpuSecond: (events * 1000) / (cpuMsOf(pid) - cpuMs),
  };
}

/** Events a CPU second that JSON.parse alone would take from the same bodies. */
function parseRate(body: string, turnMs: number): number {
  const endMs = performance.now() + turnMs;
  const cpu = process.cpuUsage();
  let batches = 0;
  while (performance.now() < endMs) {
    JSON.parse(body);
    batches += 1;
  }
  const { user, system } = process.cpuUsage(cpu);
  return (batches * EVENTS_PER_BATCH * 1e6) / (user + system);
}
