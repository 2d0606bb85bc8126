import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onFreePort } from './free-port.js';
import { httpGet } from './http.js';
import { type ChildHandle, spawnChild } from './processes.js';
import { requireBinary } from './require-binary.js';
import { makeTempDir, type TempDir } from './temp-dir.js';
import { waitFor } from './wait-for.js';

/** An alert as Alertmanager has it now. */
export interface HeldAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** `suppressed` when another alert or a silence mutes it. */
  state: 'active' | 'suppressed' | 'unprocessed';
  /** Names of the alerts that mute it. */
  inhibitedBy: string[];
}

/** A running Alertmanager of one test. */
export interface AlertmanagerServer {
  readonly port: number;
  /** `127.0.0.1:port`, as Prometheus's configuration wants it. */
  readonly target: string;
  /** The alerts that are firing now, muted ones included. */
  alerts(): Promise<HeldAlert[]>;
  /** Log lines of level warn and error. */
  complaints(): string[];
  /** Ends the server and removes its folder. May be repeated. */
  stop(): Promise<void>;
}

/**
 * Starts Debian's prometheus-alertmanager on a free port of 127.0.0.1, alone (it gossips with nobody), and waits
 * until it says it is ready.
 *
 * @param config YAML text
 * @throws Error when it is missing, refuses its configuration, or never gets ready (with its log).
 */
export async function startAlertmanager(config: string): Promise<AlertmanagerServer> {
  const dir = makeTempDir('alertmanager');
  try {
    return await onFreePort((port) => launch(config, dir, port));
  } catch (error) {
    dir.remove();
    throw error;
  }
}

async function launch(config: string, dir: TempDir, port: number): Promise<AlertmanagerServer> {
  const program = requireBinary('prometheus-alertmanager', 'prometheus-alertmanager');
  const configFile = join(dir.path, 'alertmanager.yml');
  writeFileSync(configFile, config);
  const args = [
    `--config.file=${configFile}`,
    `--storage.path=${join(dir.path, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ];
  const child = await spawnChild(program, { args, cwd: dir.path });
  child.endInput();
  try {
    await untilReady(child, port);
  } catch (error) {
    await child.kill('SIGKILL');
    throw new Error(`alertmanager did not start: ${String(error)}\n${child.stderr.text()}`, { cause: error });
  }
  const stop = async () => {
    await child.stop();
    dir.remove();
  };
  return served(child, port, stop);
}

async function untilReady(child: ChildHandle, port: number): Promise<void> {
  const look = async () =>
    !child.running || (await httpGet(`http://127.0.0.1:${port}/-/ready`)).status === 200;
  await waitFor(look, { what: 'alertmanager to be ready', timeoutMs: 30_000, everyMs: 25 });
  if (child.running) return;
  await child.exited;
  throw new Error('it ended before it was ready');
}

function served(child: ChildHandle, port: number, stop: () => Promise<void>): AlertmanagerServer {
  return {
    port,
    target: `127.0.0.1:${port}`,
    alerts: async () => toAlerts((await httpGet(`http://127.0.0.1:${port}/api/v2/alerts`)).body),
    complaints: () => child.stderr.lines.filter((line) => /\blevel=(warn|error)\b/.test(line)),
    stop,
  };
}

interface ApiAlert {
  fingerprint: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  status: { state: HeldAlert['state']; inhibitedBy: string[] };
}

/** Who mutes whom is told by fingerprints; tests want names. */
function toAlerts(body: string): HeldAlert[] {
  const alerts = JSON.parse(body) as ApiAlert[];
  const names = new Map(alerts.map(({ fingerprint, labels }) => [fingerprint, labels.alertname ?? '']));
  return alerts.map(({ labels, annotations, status }) => ({
    labels,
    annotations,
    state: status.state,
    inhibitedBy: status.inhibitedBy.map((fingerprint) => names.get(fingerprint) ?? fingerprint),
  }));
}
