import type { HostPort } from './connection.js';

/** A range of slots and who serves it. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly master: HostPort;
  readonly replicas: readonly HostPort[];
}

/** Slots of every cluster. */
export const SLOTS = 16_384;

/** Reads the reply of CLUSTER SLOTS; undefined when it is none. A node that does not know its own host is at the one asked. */
export function readSlots(reply: unknown, asked: HostPort): SlotRange[] | undefined {
  if (!Array.isArray(reply)) return undefined;
  const ranges = reply.flatMap((entry: unknown) => {
    const [first, last, ...nodes]: unknown[] = Array.isArray(entry) ? entry : [];
    const [master, ...replicas] = nodes.flatMap((node) => readNode(node, asked) ?? []);
    if (typeof first !== 'number' || typeof last !== 'number' || master === undefined) return [];
    return [{ first, last, master, replicas }];
  });
  return ranges.length === reply.length ? ranges : undefined;
}

function readNode(node: unknown, asked: HostPort): HostPort | undefined {
  const [name, port]: unknown[] = Array.isArray(node) ? node : [];
  if (typeof port !== 'number') return undefined;
  const host = Buffer.isBuffer(name) ? name.toString() : '';
  return { host: host === '' || host === '?' ? asked.host : host, port };
}
