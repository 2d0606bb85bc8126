import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onFreePort } from './free-port.js';
import { type HttpAnswer, httpGet } from './http.js';
import { type ChildHandle, spawnChild } from './processes.js';
import { requireBinary } from './require-binary.js';
import { makeTempDir, type TempDir } from './temp-dir.js';
import { waitFor } from './wait-for.js';

/** What a test may ask of its Prometheus. */
export interface PrometheusOptions {
  /** The configuration, as an object or as YAML text. */
  config: object | string;
  /** Files next to the configuration, such as rules: `rule_files: ['rules.yml']` finds them. */
  files?: Readonly<Record<string, string>>;
  /** More arguments of prometheus. */
  args?: readonly string[];
}

/** One series of an answer to an instant query. */
export interface PromSample {
  labels: Record<string, string>;
  value: number;
}

/** One scrape target. */
export interface PromTarget {
  url: string;
  health: 'up' | 'down' | 'unknown';
  /** Why the last scrape failed, or ''. */
  lastError: string;
}

/** A running Prometheus of one test. */
export interface PrometheusServer {
  readonly port: number;
  readonly url: string;
  readonly process: ChildHandle;
  /** An instant query, now; a scalar has no labels. @throws Error with Prometheus's own words. */
  query(promql: string): Promise<PromSample[]>;
  /** Active targets. */
  targets(): Promise<PromTarget[]>;
  /** Any GET below the server's root, such as `/api/v1/rules`. */
  get(path: string): Promise<HttpAnswer>;
  /** Every log line so far. */
  log(): readonly string[];
  /** Log lines of level warn and error. */
  complaints(): string[];
  /** Ends the server and removes its folder. May be repeated. */
  stop(): Promise<void>;
}

/**
 * Starts Debian's prometheus on a free port of 127.0.0.1, with its data in a folder of its own, and waits until
 * it says it is ready.
 *
 * @throws Error when prometheus is missing, refuses its configuration, or never gets ready (with its log).
 */
export async function startPrometheus(options: PrometheusOptions): Promise<PrometheusServer> {
  const dir = makeTempDir('prometheus');
  try {
    return await onFreePort((port) => launch(options, dir, port));
  } catch (error) {
    dir.remove();
    throw error;
  }
}

async function launch(options: PrometheusOptions, dir: TempDir, port: number): Promise<PrometheusServer> {
  const program = requireBinary('prometheus', 'prometheus');
  const child = await spawnChild(program, { args: serverArgs(options, dir, port), cwd: dir.path });
  try {
    await untilReady(child, port);
  } catch (error) {
    await child.kill('SIGKILL');
    throw new Error(`prometheus did not start: ${String(error)}\n${child.stderr.text()}`, { cause: error });
  }
  const stop = async () => {
    await child.stop();
    dir.remove();
  };
  return served(child, port, stop);
}

function serverArgs(
  { config, files = {}, args = [] }: PrometheusOptions,
  dir: TempDir,
  port: number,
): string[] {
  const configFile = join(dir.path, 'prometheus.yml');
  // Every JSON text is YAML.
  writeFileSync(configFile, typeof config === 'string' ? config : JSON.stringify(config));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir.path, name), text);
  return [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${join(dir.path, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    ...args,
  ];
}

async function untilReady(child: ChildHandle, port: number): Promise<void> {
  const look = async () =>
    !child.running || (await httpGet(`http://127.0.0.1:${port}/-/ready`)).status === 200;
  await waitFor(look, { what: 'prometheus to be ready', timeoutMs: 30_000, everyMs: 25 });
  if (child.running) return;
  await child.exited;
  throw new Error('it ended before it was ready');
}

function served(child: ChildHandle, port: number, stop: () => Promise<void>): PrometheusServer {
  const url = `http://127.0.0.1:${port}`;
  const get = (path: string) => httpGet(`${url}${path}`);
  return {
    port,
    url,
    process: child,
    get,
    stop,
    query: async (promql) => toSamples(await api(get, `/api/v1/query?query=${encodeURIComponent(promql)}`)),
    targets: async () => toTargets(await api(get, '/api/v1/targets?state=active')),
    log: () => child.stderr.lines,
    complaints: () => child.stderr.lines.filter((line) => /\blevel=(warn|error)\b/.test(line)),
  };
}

async function api(get: (path: string) => Promise<HttpAnswer>, path: string): Promise<unknown> {
  const answer = JSON.parse((await get(path)).body) as { status: string; data?: unknown; error?: string };
  if (answer.status !== 'success')
    throw new Error(`prometheus refused ${path}: ${answer.error ?? 'no reason'}`);
  return answer.data;
}

function toSamples(data: unknown): PromSample[] {
  const { resultType, result } = data as { resultType: string; result: unknown };
  if (resultType === 'scalar') return [{ labels: {}, value: Number((result as [number, string])[1]) }];
  if (resultType !== 'vector')
    throw new Error(`an instant query that gives a ${resultType} is not supported here`);
  const series = result as { metric: Record<string, string>; value: [number, string] }[];
  return series.map(({ metric, value }) => ({ labels: metric, value: toNumber(value[1]) }));
}

function toNumber(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

function toTargets(data: unknown): PromTarget[] {
  const { activeTargets } = data as { activeTargets: (PromTarget & { scrapeUrl: string })[] };
  return activeTargets.map(({ scrapeUrl, health, lastError }) => ({ url: scrapeUrl, health, lastError }));
}
