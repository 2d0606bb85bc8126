import type { Clock } from '../../contract/clock.js';
import type { RedisReason } from '../../contract/outcomes.js';
import type { Deployment, NodeSet, SampledNode } from './deployment.js';
import type { HeldKeys } from './held-keys.js';
import { type HeldSight, HeldSights } from './held-sights.js';
import { KEYS_PER_LOOK } from './key-look.js';
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

/**
 * Looks at each held key on its master, all nodes at a time. Without any held key it asks the nodes whether they
 * answer. Rejects only with a fault of this program.
 */
export async function lookAtHeld({ deployment, heldKeys }: HeldLookTools): Promise<HeldLookResult> {
  const set = await deployment.nodes().catch(readFailure);
  if (!('sweep' in set)) return { sights: [], costUs: 0, faults: [set.reason], failed: true };
  const byNode = divideByNode(heldKeys, set);
  const results = await Promise.all([...byNode].map(([node, rows]) => lookAtNode(node, heldKeys, rows)));
  const faults = results.flatMap(({ fault }) => fault ?? []);
  const answered = results.some(({ fault }) => fault === undefined);
  const missing = answered ? await set.missing() : undefined;
  if (missing !== undefined) faults.push(missing);
  const sights = joinSights(results);
  let moved = false;
  for (const { row, state } of sights) {
    if (state === 'elsewhere') moved = true;
    else heldKeys.note(row, state === 'there');
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

function divideByNode(heldKeys: HeldKeys, set: NodeSet): Map<SampledNode, number[]> {
  const byNode = new Map<SampledNode, number[]>();
  const stock = heldKeys.takeStock();
  for (const node of stock.length === 0 ? set.sweep : []) byNode.set(node, []);
  for (const row of stock) {
    const node = set.masterOf(heldKeys.keyAt(row));
    if (node === undefined) continue;
    const rows = byNode.get(node);
    if (rows === undefined) byNode.set(node, [row]);
    else rows.push(row);
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

async function lookAtNode(
  node: SampledNode,
  heldKeys: HeldKeys,
  rows: readonly number[],
): Promise<NodeResult> {
  await node.redis.untilReady(READY_MS);
  const known = node.redis.fault();
  try {
    if (known !== undefined) throw new StepFailure(known);
    return await lookInParts(node, heldKeys, rows);
  } catch (error) {
    const { reason } = readFailure(error);
    if (reason === 'command_timeout' || known !== undefined) node.redis.reconnect();
    return { sights: [], costUs: 0, fault: node.redis.explain(reason) };
  }
}

async function lookInParts(
  node: SampledNode,
  heldKeys: HeldKeys,
  rows: readonly number[],
): Promise<NodeResult> {
  const sights = new HeldSights(rows);
  let costUs = 0;
  let at = 0;
  do {
    const part = rows.slice(at, at + KEYS_PER_LOOK);
    const seen = await node.lookAt(part.map((row) => heldKeys.keyAt(row)));
    costUs += seen.costUs;
    sights.add(seen);
    at += KEYS_PER_LOOK;
  } while (at < rows.length);
  return { sights, costUs };
}
