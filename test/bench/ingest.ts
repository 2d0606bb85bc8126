import { startExporterProcess } from '../support/exporter-process.js';
import { cpuMsOf } from './cpu-time.js';
import { holdEvents, Poster } from './load.js';
import type { RoundPlan } from './rounds.js';
import { median } from './statistics.js';
import { judgeValue, type ValueResult } from './value-result.js';

const EVENTS_PER_BATCH = 500;
const POSTERS = 4;
const RESOURCES = 20;
/** DESIGN, section 10, in events a second on one core. */
const BAR = 100_000;

/**
 * The whole way in over loopback HTTP on the built exporter: validation, dedupe, ledger, hot keys, metrics. Judged by
 * the exporter's own CPU time, as the machine does other things too; the rate by the clock on the wall is beside it.
 */
export async function runIngestBench(plan: Omit<RoundPlan, 'callers'>): Promise<ValueResult[]> {
  const exporter = await startExporterProcess(['--sample-mode', 'off']);
  const posters = Array.from({ length: POSTERS }, (_, index) => new Poster(exporter.localUrl, `${index}`));
  const templates = posters.map((poster, index) => poster.template(eventsOf(index)));
  const turn = () => takeTurn(posters, templates, exporter.process.pid, plan.turnMs);
  try {
    for (let warmUp = 0; warmUp < 3; warmUp += 1) await turn();
    const turns = [];
    for (let round = 0; round < plan.rounds; round += 1) turns.push(await turn());
    const parse = parseRate(`${templates[0]?.join('1')}`, plan.turnMs);
    const perCpu = turns.map(({ perCpuSecond }) => perCpuSecond);
    const target = {
      bench: 'ingest',
      unit: 'events per CPU second',
      bar: BAR,
      direction: 'at_least',
    } as const;
    return [
      judgeValue({ ...target, case: `batches of ${EVENTS_PER_BATCH}, whole path` }, perCpu, {
        eventsPerSecond: Math.round(median(turns.map(({ perSecond }) => perSecond))),
        cpuUsPerEvent: Math.round(1e8 / median(perCpu)) / 100,
        ratioToJsonParse: Math.round((1000 * median(perCpu)) / parse) / 1000,
        jsonParseEventsPerSecond: Math.round(parse),
      }),
    ];
  } finally {
    for (const poster of posters) poster.close();
    await exporter.process.kill('SIGKILL');
  }
}

function eventsOf(poster: number): object[] {
  const holds = Array.from({ length: EVENTS_PER_BATCH / 2 }, (_, index) => poster * 1000 + index);
  return holds.flatMap((index) => holdEvents(index, RESOURCES));
}

async function takeTurn(
  posters: readonly Poster[],
  templates: readonly (readonly [string, string])[],
  pid: number,
  turnMs: number,
) {
  const [cpuMs, startMs] = [cpuMsOf(pid), performance.now()];
  let batches = 0;
  await Promise.all(
    posters.map(async (poster, index) => {
      while (performance.now() - startMs < turnMs) {
        await poster.post(templates[index] ?? ['', '']);
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
