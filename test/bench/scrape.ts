import { EXAMPLE_EVENTS } from '../contract/examples.js';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { cpuMsOf } from './cpu-time.js';
import { Poster } from './load.js';
import type { RoundPlan } from './rounds.js';
import { median } from './statistics.js';
import { judgeValue, tenths, type ValueResult } from './value-result.js';

const RESOURCES = 200;
const KEYS_PER_RESOURCE = 5;
/** DESIGN, section 10, in ms. */
const BARS = { page: 100, stall: 20 };
const PROBE_PAUSE_MS = 1;

/**
 * A page of 200 resources with every family, and what else waits while it is made. The page is judged by the
 * exporter's own CPU time; the time by the clock, which all that the machine does besides makes longer, is beside it.
 */
export async function runScrapeBench(plan: Omit<RoundPlan, 'callers'>): Promise<ValueResult[]> {
  const redis = await startRedis();
  const client = redis.client();
  const keys = Array.from({ length: RESOURCES * KEYS_PER_RESOURCE }, (_, index) => index);
  for (const index of keys) await client.set(`lock:r${index % RESOURCES}:${index}`, 'owner', 'PX', 3_600_000);
  const flags = ['--redis-url', redis.url, '--first-increment-hold', '0s', '--sample-duty', '100%'];
  const exporter = await startExporterProcess(flags);
  try {
    await fill(exporter);
    const rounds = [];
    for (let round = -3; round < plan.rounds; round += 1) {
      const measured = await takeScrape(exporter);
      if (round >= 0) rounds.push(measured);
    }
    return judge(rounds);
  } finally {
    await exporter.process.kill('SIGKILL');
    await redis.stop();
  }
}

type Scrape = Awaited<ReturnType<typeof takeScrape>>;

function judge(rounds: readonly Scrape[]): ValueResult[] {
  const of = (pick: (scrape: Scrape) => number) => rounds.map(pick);
  const target = { bench: 'scrape', unit: 'ms', direction: 'at_most' } as const;
  const page = { series: median(of(({ series }) => series)), bytes: median(of(({ bytes }) => bytes)) };
  return [
    judgeValue(
      { ...target, case: `${RESOURCES} resources, all families: the page, CPU time`, bar: BARS.page },
      of(({ cpuMs }) => cpuMs),
      {
        wallMs: tenths(median(of(({ ms }) => ms))),
        ...page,
      },
    ),
    judgeValue(
      { ...target, case: 'longest wait of another request meanwhile, by the clock', bar: BARS.stall },
      of(({ stallMs }) => stallMs),
    ),
  ];
}

/** Every example of every event, for each resource, and a good sample. */
async function fill(exporter: ExporterProcess): Promise<void> {
  const poster = new Poster(exporter.localUrl, '0');
  const examples = Object.values(EXAMPLE_EVENTS).flat();
  for (let index = 0; index < RESOURCES; index += 1) {
    await poster.post(poster.template(examples.map((event) => ({ ...event, resource: `r${index}` }))));
  }
  poster.close();
  await waitFor(async () => (await exporter.value('redis_lock_up')) === 1, {
    what: 'a good sample',
    timeoutMs: 30_000,
  });
}

async function takeScrape(exporter: ExporterProcess) {
  const { pid } = exporter.process;
  const probe = startProbe(`${exporter.metricsUrl}/-/healthy`);
  const [cpuMs, startMs] = [cpuMsOf(pid), performance.now()];
  const text = await exporter.metrics();
  const ms = performance.now() - startMs;
  const cpu = cpuMsOf(pid) - cpuMs;
  const stallMs = await probe.stop();
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  return { ms, cpuMs: cpu, stallMs, series, bytes: text.length };
}

/** Asks for something cheap again and again, and tells the longest answer. */
function startProbe(url: string): { stop(): Promise<number> } {
  let longestMs = 0;
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const startMs = performance.now();
      await (await fetch(url)).text();
      longestMs = Math.max(longestMs, performance.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, PROBE_PAUSE_MS));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await running;
      return longestMs;
    },
  };
}
