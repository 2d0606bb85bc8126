import type { RedisReason } from '../../contract/outcomes.js';
import { keySlot } from '../../lua/key-slot.js';
import type { HostPort } from './connection.js';
import type { Deployment, NodeParts, NodeSet } from './deployment.js';
import { redisReasonOf } from './redis-reason.js';
import { readSlots, SLOTS, type SlotRange } from './slots.js';
import { StepFailure } from './step.js';

/** What a cluster is made of. */
export interface ClusterOptions {
  /** At least one node to ask for the others. */
  readonly seeds: readonly HostPort[];
  /** Connects to a node. `readOnly`: it is a replica that is to answer for its master's keys. */
  readonly connect: (address: HostPort, name: string, readOnly: boolean) => NodeParts;
  /** Sweep a replica of each master that has one. Held keys are looked at on masters all the same. */
  readonly sweepReplicas: boolean;
}

/** A node that does not answer is not waited for longer while others can be asked. */
const SEED_READY_MS = 1000;

/** A Redis Cluster. Asks for its masters before each look, so that a failover or new nodes are known by the next. */
export function clusterDeployment(options: ClusterOptions): Deployment {
  return new ClusterDeployment(options);
}

class ClusterDeployment implements Deployment {
  readonly #options: ClusterOptions;
  readonly #nodes = new Map<string, NodeParts>();
  readonly #callbacks: (() => void)[] = [];
  #asking: Promise<NodeSet> | undefined;
  #closed = false;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#connectSeeds();
  }

  /** Looks that come together share one answer. */
  nodes(): Promise<NodeSet> {
    this.#asking ??= this.#find().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  onReady(callback: () => void): void {
    this.#callbacks.push(callback);
    for (const { redis } of this.#nodes.values()) redis.onReady(callback);
  }

  close(): void {
    this.#closed = true;
    for (const { redis } of this.#nodes.values()) redis.close();
  }

  async #find(): Promise<NodeSet> {
    const { ranges, reason } = await this.#askAll();
    if (ranges === undefined) {
      // None of the known nodes answers: perhaps all were replaced, behind the names of the seeds.
      this.#connectSeeds();
      throw new StepFailure(reason);
    }
    return this.#place(ranges);
  }

  /** One after the other, those that work first, until one answers. */
  async #askAll(): Promise<{ ranges: SlotRange[] | undefined; reason: RedisReason }> {
    let reason: RedisReason = 'connection';
    const all = [...this.#nodes.values()];
    const working = all.filter(({ redis }) => redis.fault() === undefined);
    for (const node of [...working, ...all.filter((one) => !working.includes(one))]) {
      await node.redis.untilReady(SEED_READY_MS);
      const [reply] = await node.redis.batch([['CLUSTER', 'SLOTS']]);
      const ranges = readSlots(reply, addressOf(node.name));
      if (ranges !== undefined && ranges.length > 0) return { ranges, reason };
      reason = reply instanceof Error ? this.#reasonOf(node, reply) : 'bad_reply';
      // A server that keeps silent does not mend by waiting.
      if (reason === 'command_timeout') node.redis.reconnect();
    }
    return { ranges: undefined, reason };
  }

  #reasonOf({ redis }: NodeParts, error: Error): RedisReason {
    return redis.explain(redisReasonOf(error));
  }

  #place(ranges: readonly SlotRange[]): NodeSet {
    const { sweepReplicas } = this.#options;
    const wanted = new Set<string>();
    const sweep = new Map<string, NodeParts>();
    const masters = ranges.map(({ master, replicas }) => {
      const [replica] = sweepReplicas ? replicas : [];
      const node = this.#node(master, false);
      const swept = replica === undefined ? node : this.#node(replica, true);
      sweep.set(swept.name, swept);
      wanted.add(node.name).add(swept.name);
      return node;
    });
    for (const [name, { redis }] of this.#nodes) {
      if (wanted.has(name)) continue;
      redis.close();
      this.#nodes.delete(name);
    }
    const covered = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    const masterOf = (key: Buffer) => {
      const slot = keySlot(key);
      return masters[ranges.findIndex(({ first, last }) => first <= slot && slot <= last)];
    };
    const missing = covered === SLOTS ? undefined : 'cluster_down';
    return { sweep: [...sweep.values()], missing: () => Promise.resolve(missing), masterOf };
  }

  #connectSeeds(): void {
    for (const seed of this.#options.seeds) this.#node(seed, false);
  }

  /** A node that changes its role gets another connection, since a replica must be asked in another way. */
  #node(address: HostPort, readOnly: boolean): NodeParts {
    const name = nameOf(address, readOnly);
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const node = this.#options.connect(address, name, readOnly);
    this.#nodes.set(name, node);
    for (const callback of this.#callbacks) node.redis.onReady(callback);
    if (this.#closed) node.redis.close();
    return node;
  }
}

const REPLICA_MARK = ' (replica)';

function nameOf({ host, port }: HostPort, readOnly: boolean): string {
  return `${host}:${port}${readOnly ? REPLICA_MARK : ''}`;
}

function addressOf(name: string): HostPort {
  const plain = name.replace(REPLICA_MARK, '');
  const colon = plain.lastIndexOf(':');
  return { host: plain.slice(0, colon), port: Number(plain.slice(colon + 1)) };
}
