import { fileURLToPath } from 'node:url';
import { type ChildHandle, spawnChild } from './processes.js';
import { RUN_MARK } from './run-mark.js';

const START = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));

/** The demo as a user starts it. */
export interface DemoProcess {
  readonly child: ChildHandle;
  /** `127.0.0.1:port` of the exporter's metrics. */
  readonly target: string;
}

/** Starts the demo on free ports, its processes known by a mark. @throws Error when it does not get ready within a minute. */
export async function startDemoProcess(mark: string): Promise<DemoProcess> {
  const env = { [RUN_MARK]: mark, REDIS_URL: undefined, REDIS_LOCK_REDIS_URL: undefined };
  const args = [START, '--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0'];
  const child = await spawnChild(process.execPath, { args, env });
  const line = await child.stdout.next(/^Metrics /, { timeoutMs: 60_000 });
  const target = /http:\/\/([^/]+)\/metrics/.exec(line)?.[1] ?? '';
  return { child, target };
}
