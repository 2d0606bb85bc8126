import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { onFreePort } from './free-port.js';
import { type ChildHandle, spawnChild } from './processes.js';
import { BRIEF_GOODBYE, type ClientOptions, type RedisServer, startRedis } from './redis-server.js';
import { requireBinary } from './require-binary.js';
import { makeTempDir, type TempDir } from './temp-dir.js';
import { waitFor } from './wait-for.js';

/** The shape of a Sentinel set-up. */
export interface RedisSentinelOptions {
  /** Default 1. */
  replicas?: number;
  /** Default 1, which is enough for every failover; the quorum is the majority. */
  sentinels?: number;
  /** Default `mymaster`. */
  masterName?: string;
}

/** A master, its replicas and the sentinels that watch them. */
export interface RedisSentinel {
  readonly masterName: string;
  /** Master and replicas as they started; the master was the first. */
  readonly servers: readonly RedisServer[];
  /** Addresses of the sentinels, as ioredis wants them. */
  readonly sentinels: readonly { host: string; port: number }[];
  /** The server the sentinels name as master now. */
  master(): Promise<RedisServer>;
  /** A connection that finds the master through the sentinels; closed by `stop()`, `error` events swallowed. */
  client(options?: ClientOptions): Redis;
  /**
   * Makes a replica the master: asked for (`command`, both stay alive), or by SIGKILL of the master (`kill`).
   * Resolves with the new master when the sentinels name it and it accepts writes.
   */
  failover(how?: 'command' | 'kill'): Promise<RedisServer>;
  /** Ends everything and removes the folders. May be repeated. */
  stop(): Promise<void>;
}

/** Starts master, replicas and sentinels, and waits until every sentinel knows all of them. */
export async function startSentinel(options: RedisSentinelOptions = {}): Promise<RedisSentinel> {
  const { replicas = 1, sentinels = 1, masterName = 'mymaster' } = options;
  const setup = new SentinelSetup(masterName);
  try {
    await setup.startServers(replicas);
    await setup.startSentinels(sentinels);
    return setup;
  } catch (error) {
    await setup.stop();
    throw error;
  }
}

class SentinelSetup implements RedisSentinel {
  readonly servers: RedisServer[] = [];
  readonly sentinels: { host: string; port: number }[] = [];
  readonly #watchers: ChildHandle[] = [];
  readonly #admins: Redis[] = [];
  readonly #clients = new Set<Redis>();
  readonly #dir: TempDir = makeTempDir('sentinel');

  constructor(readonly masterName: string) {}

  async startServers(replicas: number): Promise<void> {
    const master = await startRedis();
    this.servers.push(master);
    for (let count = 0; count < replicas; count += 1) {
      const replica = await startRedis({ args: ['--replicaof', master.host, String(master.port)] });
      this.servers.push(replica);
      await inSync(replica);
    }
  }

  async startSentinels(count: number): Promise<void> {
    const quorum = Math.floor(count / 2) + 1;
    for (let index = 0; index < count; index += 1) await this.#startSentinel(quorum);
    await Promise.all(this.#admins.map((admin) => this.#seesAll(admin, count)));
  }

  async master(): Promise<RedisServer> {
    const address = await this.#admins[0]?.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.masterName);
    const port = Number((address as string[] | undefined)?.[1]);
    const server = this.servers.find((candidate) => candidate.port === port);
    if (server === undefined)
      throw new Error(`the sentinels name a master on port ${port}, which is none of ours`);
    return server;
  }

  client(options: ClientOptions = {}): Redis {
    const retry = { ...BRIEF_GOODBYE, retryStrategy: () => 20, sentinelRetryStrategy: () => 20 };
    const client = new Redis({ sentinels: this.sentinels, name: this.masterName, ...retry, ...options });
    client.on('error', () => {});
    client.once('end', () => this.#clients.delete(client));
    this.#clients.add(client);
    return client;
  }

  async failover(how: 'command' | 'kill' = 'command'): Promise<RedisServer> {
    const old = await this.master();
    if (how === 'kill') await old.kill('SIGKILL');
    else await this.#askForFailover();
    const named = async () => {
      const now = await this.master();
      return now === old ? undefined : now;
    };
    const what = 'the sentinels to name a new master';
    const master = await waitFor(named, { what, timeoutMs: 20_000 }).catch((error) => {
      throw new Error(`${String(error)}\n${this.#logTails()}`, { cause: error });
    });
    const admin = master.client();
    const promoted = async () => (await admin.role())[0] === 'master';
    await waitFor(promoted, { what: `server ${master.port} to be master`, timeoutMs: 10_000 });
    admin.disconnect();
    return master;
  }

  /** Refused with NOGOODSLAVE until the sentinel has fresh news of a replica. */
  async #askForFailover(): Promise<void> {
    const ask = () => this.#admins[0]?.call('SENTINEL', 'FAILOVER', this.masterName);
    await waitFor(ask, { what: 'the sentinel to start a failover', timeoutMs: 10_000, everyMs: 50 });
  }

  async stop(): Promise<void> {
    for (const client of [...this.#clients, ...this.#admins]) client.disconnect();
    await Promise.all(this.#watchers.map((watcher) => watcher.kill('SIGKILL')));
    await Promise.all(this.servers.map((server) => server.stop()));
    this.#dir.remove();
  }

  #logTails(): string {
    return this.#watchers.map(({ stdout }) => stdout.lines.slice(-20).join('\n')).join('\n\n');
  }

  async #startSentinel(quorum: number): Promise<void> {
    const port = await onFreePort((free) => this.#launch(free, quorum));
    const admin = new Redis({ host: '127.0.0.1', port, ...BRIEF_GOODBYE, retryStrategy: () => 20 });
    admin.on('error', () => {});
    this.#admins.push(admin);
    this.sentinels.push({ host: '127.0.0.1', port });
    // The defaults, 10 s and 2 s, are too slow to wait for. The ping period must stay: a replica whose INFO is older
    // than five of them is not promoted, and INFO comes once a second when the master is down.
    await admin.call('SENTINEL', 'DEBUG', 'INFO-PERIOD', 300, 'PUBLISH-PERIOD', 200);
    // A sentinel that did not run for 2 s takes its clock for broken, and watches only for the next 30 s ("tilt"). On a
    // busy machine that is no broken clock.
    await admin.call('SENTINEL', 'DEBUG', 'TILT-TRIGGER', 600_000, 'TILT-PERIOD', 500);
  }

  async #launch(port: number, quorum: number): Promise<number> {
    const file = join(this.#dir.path, `sentinel-${port}.conf`);
    writeFileSync(file, this.#config(port, quorum));
    const program = requireBinary('redis-sentinel', 'redis-sentinel');
    const child = await spawnChild(program, { args: [file], cwd: this.#dir.path });
    this.#watchers.push(child);
    await child.stdout.next(/Sentinel ID is/, { what: `redis-sentinel on port ${port} to be ready` });
    return port;
  }

  #config(port: number, quorum: number): string {
    const { host, port: masterPort } = this.servers[0] ?? { host: '', port: 0 };
    const { masterName } = this;
    return [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${this.#dir.path}`,
      `sentinel monitor ${masterName} ${host} ${masterPort} ${quorum}`,
      `sentinel down-after-milliseconds ${masterName} 500`,
      `sentinel failover-timeout ${masterName} 2000`,
      '',
    ].join('\n');
  }

  async #seesAll(admin: Redis, count: number): Promise<void> {
    const wanted = {
      'num-slaves': String(this.servers.length - 1),
      'num-other-sentinels': String(count - 1),
    };
    const look = async () => {
      const flat = (await admin.call('SENTINEL', 'MASTER', this.masterName)) as string[];
      return Object.entries(wanted).every(([field, value]) => flat[flat.indexOf(field) + 1] === value);
    };
    await waitFor(look, { what: 'a sentinel to know all servers and sentinels', timeoutMs: 20_000 });
  }
}

async function inSync(replica: RedisServer): Promise<void> {
  const admin = replica.client();
  const linked = async () => (await admin.info('replication')).includes('master_link_status:up');
  await waitFor(linked, { what: `replica ${replica.port} to be in sync`, timeoutMs: 15_000 });
  admin.disconnect();
}
