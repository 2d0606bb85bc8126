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

/** Looks at each held key on its master, all nodes at a time. Two looks never overlap. */
export class HeldLooker {
  readonly #tools: HeldLookTools;
  /** By the names of the nodes. */
  #sights = new Map<string, HeldSights>();

  constructor(tools: HeldLookTools) {
    this.#tools = tools;
  }

  /**
   * One look; what it saw is good until the next one. Without any held key it asks the nodes whether they answer.
   * Rejects only with a fault of this program.
   */
  async look(): Promise<HeldLookResult> {
    const { deployment, heldKeys } = this.#tools;
    const set = await deployment.nodes().catch(readFailure);
    if (!('sweep' in set)) return { sights: [], costUs: 0, faults: [set.reason], failed: true };
    const nodes = [...this.#divideByNode(set)];
    const results = await Promise.all(nodes.map(([node, sights]) => lookAtNode(node, heldKeys, sights)));
    const faults = results.flatMap(({ fault }) => fault ?? []);
    const answered = results.some(({ fault }) => fault === undefined);
    const missing = answered ? await set.missing() : undefined;
    if (missing !== undefined) faults.push(missing);
    const sights = joinSights(nodes.map(([, ofNode]) => ofNode));
    if (this.#note(sights)) faults.push('moved');
    const costUs = results.reduce((sum, result) => sum + result.costUs, 0);
    const failed = faults.length > 0 && results.every(({ fault }) => fault !== undefined);
    return { sights, costUs, faults, failed };
  }

  #divideByNode(set: NodeSet): Map<SampledNode, HeldSights> {
    const byNode = new Map<SampledNode, HeldSights>();
    const { heldKeys } = this.#tools;
    const stock = heldKeys.takeStock();
    for (const node of stock.length === 0 ? set.sweep : []) byNode.set(node, this.#sightsOf(node));
    for (const row of stock) {
      const node = set.masterOf(heldKeys.keyAt(row));
      if (node === undefined) continue;
      let sights = byNode.get(node);
      if (sights === undefined) {
        sights = this.#sightsOf(node);
        byNode.set(node, sights);
      }
      sights.ask(row);
    }
    this.#sights = new Map([...byNode].map(([{ name }, sights]) => [name, sights]));
    return byNode;
  }

  /** The room of the last look at this node. */
  #sightsOf({ name }: SampledNode): HeldSights {
    const sights = this.#sights.get(name) ?? new HeldSights();
    sights.clear();
    return sights;
  }

  /** Returns whether another node than the one asked has the slot of a key. */
  #note(sights: Iterable<HeldSight>): boolean {
    let moved = false;
    for (const { row, state } of sights) {
      if (state === 'elsewhere') moved = true;
      else this.#tools.heldKeys.note(row, state === 'there');
    }
    return moved;
  }
}

function joinSights(all: readonly HeldSights[]): Iterable<HeldSight> {
  return {
    *[Symbol.iterator]() {
      for (const sights of all) yield* sights;
    },
  };
}

interface NodeResult {
  readonly costUs: number;
  readonly fault?: RedisReason;
}

/** Of a node that fails nothing is seen. */
async function lookAtNode(node: SampledNode, heldKeys: HeldKeys, sights: HeldSights): Promise<NodeResult> {
  await node.redis.untilReady(READY_MS);
  const known = node.redis.fault();
  try {
    if (known !== undefined) throw new StepFailure(known);
    return { costUs: await lookInParts(node, heldKeys, sights) };
  } catch (error) {
    const { reason } = readFailure(error);
    if (reason === 'command_timeout' || known !== undefined) node.redis.reconnect();
    sights.forget();
    return { costUs: 0, fault: node.redis.explain(reason) };
  }
}

/** Returns what it cost the server, in µs. */
async function lookInParts(node: SampledNode, heldKeys: HeldKeys, sights: HeldSights): Promise<number> {
  let costUs = 0;
  let at = 0;
  do {
    const rows = sights.rows(at, at + KEYS_PER_LOOK);
    const seen = await node.lookAt(rows.map((row) => heldKeys.keyAt(row)));
    costUs += seen.costUs;
    sights.add(seen);
    at += KEYS_PER_LOOK;
  } while (at < sights.length);
  return costUs;
}
