import type { Clock } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import type { Deployment, NodeSet, SampledNode } from './deployment.js';
import type { HeldKey, HeldKeys } from './held-keys.js';
import type { KeySight } from './key-look.js';
import { READY_MS } from './node-sweeper.js';
import { readFailure, StepFailure } from './step.js';

/** A held key and what Redis says of it. */
export interface HeldSight {
  readonly held: HeldKey;
  readonly sight: KeySight;
}

/** What one look at all held keys saw. Keys of a node that did not answer are not in it. */
export interface HeldLookResult {
  readonly sights: readonly HeldSight[];
  readonly costUs: number;
  /** What failed, one reason for each node. */
  readonly faults: readonly RedisReason[];
  /** Nothing was seen at all. */
  readonly failed: boolean;
}

/** What a look works with. */
export interface HeldLookTools {
  readonly deployment: Pick<Deployment, 'nodes'>;
  readonly heldKeys: HeldKeys;
  readonly clock: Clock;
}

/**
 * Looks at each held key on its master, all nodes at a time. Without any held key it asks the nodes whether they
 * answer. Rejects only with a fault of this program.
 */
export async function lookAtHeld({ deployment, heldKeys }: HeldLookTools): Promise<HeldLookResult> {
  const set = await deployment.nodes().catch(readFailure);
  if (!('sweep' in set)) return { sights: [], costUs: 0, faults: [set.reason], failed: true };
  const byNode = divideByNode(heldKeys.takeStock(), set);
  const results = await Promise.all([...byNode].map(([node, held]) => lookAtNode(node, held)));
  const faults = results.flatMap(({ fault }) => fault ?? []);
  const answered = results.some(({ fault }) => fault === undefined);
  const missing = answered ? await set.missing() : undefined;
  if (missing !== undefined) faults.push(missing);
  const sights = results.flatMap((result) => result.sights);
  for (const { held, sight } of sights) {
    if (sight.state !== 'elsewhere') heldKeys.note(held, sight.state === 'there');
  }
  if (sights.some(({ sight }) => sight.state === 'elsewhere')) faults.push('moved');
  const costUs = results.reduce((sum, result) => sum + result.costUs, 0);
  return {
    sights,
    costUs,
    faults,
    failed: faults.length > 0 && results.every(({ fault }) => fault !== undefined),
  };
}

function divideByNode(stock: readonly HeldKey[], set: NodeSet): Map<SampledNode, HeldKey[]> {
  const byNode = new Map<SampledNode, HeldKey[]>();
  for (const node of stock.length === 0 ? set.sweep : []) byNode.set(node, []);
  for (const held of stock) {
    const node = set.masterOf(held.key);
    if (node === undefined) continue;
    const keys = byNode.get(node);
    if (keys === undefined) byNode.set(node, [held]);
    else keys.push(held);
  }
  return byNode;
}

interface NodeResult {
  readonly sights: readonly HeldSight[];
  readonly costUs: number;
  readonly fault?: RedisReason;
}

async function lookAtNode(node: SampledNode, held: readonly HeldKey[]): Promise<NodeResult> {
  await node.redis.untilReady(READY_MS);
  const known = node.redis.fault();
  try {
    if (known !== undefined) throw new StepFailure(known);
    const { sights, costUs } = await node.lookAt(held.map(({ key }) => key));
    const paired = held.flatMap((one, at) => {
      const sight = sights[at];
      return sight === undefined ? [] : [{ held: one, sight }];
    });
    return { sights: paired, costUs };
  } catch (error) {
    const { reason } = readFailure(error);
    if (reason === 'command_timeout' || known !== undefined) node.redis.reconnect();
    return { sights: [], costUs: 0, fault: node.redis.explain(reason) };
  }
}
