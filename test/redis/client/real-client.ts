import {
  createLockConnection,
  LockClient,
  type LockClientOptions,
  type LockConnection,
} from '../../../client/index.js';
import { EventLog } from '../../unit/client/lock-bench.js';

const open: { client: LockClient; redis: LockConnection; ownsRedis: boolean }[] = [];

/** A lock client on a real Redis, with a log of its events. Closed by {@link closeClients}. */
export function realClient(
  at: { port: number } | { redis: LockConnection },
  options: Partial<LockClientOptions> & { commandTimeoutMs?: number } = {},
) {
  const redis =
    'redis' in at
      ? at.redis
      : createLockConnection({
          host: '127.0.0.1',
          port: at.port,
          commandTimeoutMs: options.commandTimeoutMs ?? 1000,
          onError: () => {},
        });
  const log = new EventLog();
  const client = new LockClient({ redis, emitter: log, onWarning: () => {}, ...options });
  open.push({ client, redis, ownsRedis: !('redis' in at) });
  return { client, redis, log };
}

/** Ends what {@link realClient} made. */
export async function closeClients(): Promise<void> {
  for (const { client, redis, ownsRedis } of open.splice(0)) {
    await client.close(200);
    if (ownsRedis) redis.disconnect();
  }
}

/** Keeps the event loop busy, as a long synchronous computation or a debugger does. */
export function stall(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/** The number of commands of one name that the server has carried out. */
export function callsOf(stats: string, command: string): number {
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}
