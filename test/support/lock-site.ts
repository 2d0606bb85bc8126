import { fileURLToPath } from 'node:url';
import { type ExporterProcess, startExporterProcess } from './exporter-process.js';
import { freePort } from './free-port.js';
import { type NodeChild, spawnNode } from './holder-process.js';
import type { RedisServer } from './redis-server.js';

/** A dozen processes that start at once on a busy machine need many seconds. */
const CLIENT_MS = 60_000;
const HOLDER = fileURLToPath(new URL('./holder-main.mjs', import.meta.url));

/** One exporter with the clients that report to it. */
export interface LockSite {
  readonly store: string;
  /** `127.0.0.1:port`, for Prometheus; stays when the exporter is restarted. */
  readonly target: string;
  /** The exporter that runs now, or ran last. */
  readonly exporter: ExporterProcess;
  /** A client process of its own; it posts to the exporter, or to another address. */
  holder(ingestUrl?: string): Promise<NodeChild>;
  /** A new exporter on the ports of the old one, which has ended. */
  restart(): Promise<void>;
  /** Ends the exporter and every client. */
  stop(): Promise<void>;
}

/** Starts the exporter of a site: `store` is its name of the Redis, `flags` are all others. */
export async function startLockSite(
  redis: RedisServer,
  store: string,
  flags: readonly string[],
): Promise<LockSite> {
  const all = ['--redis-url', redis.url, '--store', store, ...flags];
  // Not any port, which the system would give to another as soon as the exporter is killed.
  const [metrics, local] = [await freePort(), await freePort()];
  const listen = ['--metrics-listen', `127.0.0.1:${metrics}`, '--local-listen', `127.0.0.1:${local}`];
  return new Site(redis, store, all, await startExporterProcess([...all, ...listen]));
}

class Site implements LockSite {
  readonly target: string;
  readonly #localUrl: string;
  readonly #holders: NodeChild[] = [];

  constructor(
    readonly redis: RedisServer,
    readonly store: string,
    readonly flags: readonly string[],
    public exporter: ExporterProcess,
  ) {
    this.target = hostOf(exporter.metricsUrl);
    this.#localUrl = exporter.localUrl;
  }

  async holder(ingestUrl = this.#localUrl): Promise<NodeChild> {
    const env = {
      HOLDER_REDIS_URL: this.redis.url,
      HOLDER_STORE: this.store,
      HOLDER_INGEST_URL: ingestUrl,
    };
    const child = await spawnNode(HOLDER, { env, timeoutMs: CLIENT_MS });
    this.#holders.push(child);
    await child.next('ready');
    return child;
  }

  async restart(): Promise<void> {
    const listen = ['--metrics-listen', this.target, '--local-listen', hostOf(this.#localUrl)];
    this.exporter = await startExporterProcess([...this.flags, ...listen]);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#holders, this.exporter].map((one) => one.process.stop()));
  }
}

function hostOf(url: string): string {
  return url.replace('http://', '');
}
