import { fileURLToPath } from 'node:url';
import { type ChildHandle, spawnChild } from './processes.js';

const BIN = fileURLToPath(new URL('../../dist/exporter/cli/bin.js', import.meta.url));

/** A running exporter of one test: the built binary, as a process of its own, on free ports. */
export interface ExporterProcess {
  readonly process: ChildHandle;
  /** `http://127.0.0.1:port` of `/metrics`. */
  readonly metricsUrl: string;
  /** The same of ingest and JSON. */
  readonly localUrl: string;
  /** The whole page of metrics. */
  metrics(): Promise<string>;
  /** Sum over the series of a family whose labels have these values; undefined when there is none. */
  value(family: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
}

/**
 * Starts `redis-lock-exporter` with these flags and waits until it says where it listens: on free ports, unless the
 * flags say both addresses. Build first.
 *
 * @throws Error with its output when it ends before.
 */
export async function startExporterProcess(flags: readonly string[]): Promise<ExporterProcess> {
  const free = ['--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0'];
  const listen = flags.includes('--metrics-listen') ? [] : free;
  const child = await spawnChild(process.execPath, { args: [BIN, ...listen, ...flags] });
  const line = await child.stdout
    .next(/"msg":"listening"/, { what: 'the exporter to listen' })
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\nerror output:\n${child.stderr.text()}`, { cause: error });
    });
  const { metrics: metricsUrl, local: localUrl } = JSON.parse(line) as { metrics: string; local: string };
  const metrics = async () => (await fetch(`${metricsUrl}/metrics`)).text();
  return {
    process: child,
    metricsUrl,
    localUrl,
    metrics,
    value: async (family, labels) => sumOf(await metrics(), family, labels),
  };
}

/** Sum over the series of a family on a page of metrics, or undefined when no series fits. */
export function sumOf(
  page: string,
  family: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const values = page.split('\n').flatMap((line) => {
    const ours = line.startsWith(`${family}{`) || line.startsWith(`${family} `);
    const fits = Object.entries(labels).every(([name, value]) => line.includes(`${name}="${value}"`));
    return ours && fits ? [Number(line.slice(line.lastIndexOf(' ') + 1))] : [];
  });
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
