import { Cluster, type ClusterOptions, type Redis } from 'ioredis';
import { onFreePort } from './free-port.js';
import { BRIEF_GOODBYE, type RedisServer, startRedis } from './redis-server.js';
import { waitFor } from './wait-for.js';

/** Number of hash slots of every Redis cluster. */
const SLOTS = 16_384;

/** Options of a cluster connection; replies keep their plain shapes. */
export type ClusterClientOptions = Omit<ClusterOptions, 'redisOptions'> & {
  redisOptions?: Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'>;
};

/** The shape of a cluster. */
export interface RedisClusterOptions {
  /** Default 3. */
  masters?: number;
  /** Default 0. */
  replicasPerMaster?: number;
}

/** A running Redis cluster of one test. */
export interface RedisCluster {
  /** The nodes that started as masters, in order of their slots, which are equal parts of all slots. */
  readonly masters: readonly RedisServer[];
  /** The nodes that started as replicas; those of the first master come first. */
  readonly replicas: readonly RedisServer[];
  /** A cluster client that is closed by `stop()`; its `error` events are swallowed. */
  client(options?: ClusterClientOptions): Cluster;
  /** Ends all nodes and removes their folders. May be repeated. */
  stop(): Promise<void>;
}

/** Starts the nodes, joins them, and waits until every node says `cluster_state:ok` and knows its replicas. */
export async function startCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicasPerMaster = 0 } = options;
  const nodes: ClusterNode[] = [];
  const clients = new Set<Cluster>();
  const stop = async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(nodes.map(({ server }) => server.stop()));
  };
  try {
    for (let count = masters * (1 + replicasPerMaster); count > 0; count -= 1) nodes.push(await startNode());
    await join(nodes, masters);
  } catch (error) {
    await stop();
    throw error;
  }
  const servers = nodes.map(({ server }) => server);
  const client = (settings: ClusterClientOptions = {}) => {
    const { redisOptions = {}, ...others } = settings;
    const made = new Cluster(
      servers.map(({ host, port }) => ({ host, port })),
      { ...others, redisOptions: { ...BRIEF_GOODBYE, ...redisOptions } },
    );
    made.on('error', () => {});
    clients.add(made);
    return made;
  };
  return { masters: servers.slice(0, masters), replicas: servers.slice(masters), client, stop };
}

interface ClusterNode {
  server: RedisServer;
  busPort: number;
  admin: Redis;
}

/** The default bus port, 10000 above, may lie outside the range of ports; so it is chosen as well. */
function startNode(): Promise<ClusterNode> {
  return onFreePort(async (busPort) => {
    const args = [
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      String(busPort),
      '--cluster-node-timeout',
      '2000',
    ];
    const server = await startRedis({ args });
    return { server, busPort, admin: server.client() };
  });
}

async function join(nodes: readonly ClusterNode[], masters: number): Promise<void> {
  const owners = nodes.slice(0, masters);
  const [first] = nodes;
  await Promise.all(
    nodes.map(async ({ admin, server, busPort }, index) => {
      await admin.cluster('SET-CONFIG-EPOCH', index + 1);
      const range = owners[index] && slotRange(index, masters);
      if (range) await admin.call('CLUSTER', 'ADDSLOTSRANGE', ...range);
      if (index > 0) await first?.admin.call('CLUSTER', 'MEET', server.host, server.port, busPort);
    }),
  );
  await Promise.all(nodes.map((node) => knowsAll(node, nodes.length)));
  await Promise.all(nodes.slice(masters).map((node, index) => replicate(node, owners[index % masters])));
  await Promise.all(nodes.map(isOk));
}

function slotRange(index: number, masters: number): [number, number] {
  const edge = (part: number) => Math.floor((part * SLOTS) / masters);
  return [edge(index), edge(index + 1) - 1];
}

async function knowsAll({ admin, server }: ClusterNode, count: number): Promise<void> {
  const what = `cluster node ${server.port} to know ${count} nodes`;
  const pattern = new RegExp(`cluster_known_nodes:${count}\\b`);
  await waitFor(async () => pattern.test(String(await admin.cluster('INFO'))), { what, timeoutMs: 15_000 });
}

async function replicate({ admin, server }: ClusterNode, owner: ClusterNode | undefined): Promise<void> {
  const ownerId = String(await owner?.admin.cluster('MYID'));
  // Refused until the gossip has told this node about the owner.
  const follow = () => admin.cluster('REPLICATE', ownerId);
  await waitFor(follow, { what: `cluster node ${server.port} to accept its master`, timeoutMs: 15_000 });
  const linked = async () => (await admin.info('replication')).includes('master_link_status:up');
  await waitFor(linked, { what: `replica ${server.port} to be in sync`, timeoutMs: 15_000 });
}

async function isOk({ admin, server }: ClusterNode): Promise<void> {
  const look = async () => String(await admin.cluster('INFO')).includes('cluster_state:ok');
  await waitFor(look, { what: `cluster node ${server.port} to say cluster_state:ok`, timeoutMs: 15_000 });
}
