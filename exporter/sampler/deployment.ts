import type { HasAllKeys } from './cluster-share.js';
import type { SampleRedis } from './connection.js';
import type { ReadDataSet } from './data-set.js';
import type { KeyLook } from './key-look.js';
import type { SampleStep } from './step.js';

/** One server that is looked at. */
export interface SampledNode {
  /** Tells the nodes of a deployment apart; stays while the server has its address. */
  readonly name: string;
  readonly redis: Pick<SampleRedis, 'fault' | 'explain' | 'untilReady' | 'connections' | 'reconnect'>;
  /** Looks at a part of its keyspace. */
  readonly step: SampleStep;
  /** Names the data that it has now. */
  readonly readDataSet: ReadDataSet;
  /** Looks at keys by name. */
  readonly lookAt: KeyLook;
}

/** The servers as they are now. */
export interface NodeSet {
  /** Those to sweep: each key is on one of them, and on one only. */
  readonly sweep: readonly SampledNode[];
  /**
   * Why they do not hold all keys: slots of a cluster have no server, or belong to masters that are not looked at.
   * Undefined when they do. To be asked after they were looked at: it may ask a server. Never rejects.
   */
  missing(): Promise<'cluster_down' | 'moved' | undefined>;
  /** The master that has, or would have, this key; undefined while its slot has none. */
  masterOf(key: Buffer): SampledNode | undefined;
}

/** One Redis: a server, what the Sentinels name, or a cluster. */
export interface Deployment {
  /** Rejects with {@link StepFailure} when it cannot be found out; with nothing else. */
  nodes(): Promise<NodeSet>;
  /** Calls back each time a connection works again. */
  onReady(callback: () => void): void;
  /** Ends all connections for good. May be repeated. */
  close(): void;
}

/** A connection with the ways to look through it. */
export interface NodeParts extends SampledNode {
  readonly redis: SampleRedis;
}

/**
 * A deployment of one server.
 * @param master the one to look at held keys, where another is swept
 * @param hasAllKeys whether the server is not just one of a cluster's
 */
export function singleServer(
  swept: NodeParts,
  master: NodeParts = swept,
  hasAllKeys: HasAllKeys = () => Promise.resolve(true),
): Deployment {
  const missing = async () => ((await hasAllKeys()) ? undefined : 'moved');
  const nodes: NodeSet = { sweep: [swept], missing, masterOf: () => master };
  return {
    nodes: () => Promise.resolve(nodes),
    onReady: (callback) => swept.redis.onReady(callback),
    close: () => {
      swept.redis.close();
      master.redis.close();
    },
  };
}
