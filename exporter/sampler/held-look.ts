import type { Clock } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import type { Deployment, NodeSet, SampledNode } from './deployment.js';
import type { HeldKey, HeldKeys } from './held-keys.js';
import { type HeldSight, HeldSights } from './held-sights.js';
import { READY_MS } from './node-sweeper.js';
import { readFailure, StepFailure } from './step.js';

/** What one look at all held keys saw. Keys of a node that did not answer are not in it. */
export interface HeldLookResult {
  /** May be walked over more than once. */
  readonly sights: Iterable<HeldSight>;
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

/** Keys asked about before what was seen of them is packed. */
const KEYS_PER_PART = 1000;

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
  const sights = joinSights(results);
  let moved = false;
  for (const { held, sight } of sights) {
    if (sight.state === 'elsewhere') moved = true;
    else heldKeys.note(held, sight.state === 'there');
  }
  if (moved) faults.push('moved');
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
    const node = set.masterOf(keyOf(held));
    if (node === undefined) continue;
    const keys = byNode.get(node);
    if (keys === undefined) byNode.set(node, [held]);
    else keys.push(held);
  }
  return byNode;
}

function joinSights(results: readonly NodeResult[]): Iterable<HeldSight> {
  return {
    *[Symbol.iterator]() {
      for (const { sights } of results) yield* sights;
    },
  };
}

interface NodeResult {
  readonly sights: Iterable<HeldSight>;
  readonly costUs: number;
  readonly fault?: RedisReason;
}

async function lookAtNode(node: SampledNode, held: readonly HeldKey[]): Promise<NodeResult> {
  await node.redis.untilReady(READY_MS);
  const known = node.redis.fault();
  try {
    if (known !== undefined) throw new StepFailure(known);
    return await lookInParts(node, held);
  } catch (error) {
    const { reason } = readFailure(error);
    if (reason === 'command_timeout' || known !== undefined) node.redis.reconnect();
    return { sights: [], costUs: 0, fault: node.redis.explain(reason) };
  }
}

/** A part's replies and sights are garbage before the next part is asked for. */
async function lookInParts(node: SampledNode, held: readonly HeldKey[]): Promise<NodeResult> {
  const sights = new HeldSights();
  let costUs = 0;
  let at = 0;
  do {
    const part = held.slice(at, at + KEYS_PER_PART);
    const seen = await node.lookAt(part.map(keyOf));
    costUs += seen.costUs;
    for (const [index, sight] of seen.sights.entries()) {
      const one = part[index];
      if (one !== undefined) sights.add(one, sight);
    }
    at += KEYS_PER_PART;
  } while (at < held.length);
  return { sights, costUs };
}

function keyOf({ keyBytes }: HeldKey): Buffer {
  return Buffer.from(keyBytes, 'latin1');
}
