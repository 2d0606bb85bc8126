import { isFinding, isGrant, type ShownEntry, US_PER_MS } from './timeline-entry.js';

/** An entry with its place on the clock of its server. */
export interface PlacedEntry {
  readonly entry: ShownEntry;
  /** Undefined: nothing maps its wall time to that clock. */
  readonly us: number | undefined;
  /** Worked out, not told by Redis. */
  readonly approximate: boolean;
}

/** The entries of one server in the order of its clock; those without a place last. */
export interface ServerEntries {
  readonly serverId: string | undefined;
  readonly placed: readonly PlacedEntry[];
}

/** Divides a timeline by server. An entry that names none stands with its hold, or on the only server there is. */
export function orderByServer(entries: readonly ShownEntry[]): ServerEntries[] {
  const named = new Set(entries.flatMap(({ serverId }) => serverId ?? []));
  const [first] = named;
  const only = named.size === 1 ? first : undefined;
  const byServer = new Map<string | undefined, ShownEntry[]>();
  for (const entry of entries) {
    const serverId = entry.serverId ?? serverOfOwner(entry, entries) ?? only;
    byServer.set(serverId, [...(byServer.get(serverId) ?? []), entry]);
  }
  return [...byServer].map(([serverId, own]) => ({ serverId, placed: place(own) }));
}

/** A time of Redis without its server may be any server's. */
function serverOfOwner({ owner, serverUs }: ShownEntry, entries: readonly ShownEntry[]): string | undefined {
  if (owner === undefined || serverUs !== undefined) return undefined;
  return entries.find((one) => one.owner === owner && one.serverId !== undefined)?.serverId;
}

function place(entries: readonly ShownEntry[]): PlacedEntry[] {
  const placed = entries.map((entry): PlacedEntry => {
    const us = entry.serverUs ?? entry.settledUs;
    if (us !== undefined) return { entry, us, approximate: false };
    return { entry, us: sinceGrantUs(entry, entries) ?? mappedUs(entry, entries), approximate: true };
  });
  return placed.sort((a, b) => (a.us ?? Number.MAX_VALUE) - (b.us ?? Number.MAX_VALUE));
}

/** A loss and a commit tell how long after the grant they were, by a clock that nobody sets. */
function sinceGrantUs(entry: ShownEntry, entries: readonly ShownEntry[]): number | undefined {
  if ((entry.kind !== 'lost' && entry.kind !== 'commit') || entry.spanMs === undefined) return undefined;
  const grantUs = entries.find((one) => isGrant(one) && one.owner === entry.owner)?.serverUs;
  return grantUs === undefined ? undefined : grantUs + entry.spanMs * US_PER_MS;
}

/** By the nearest entry of the same client that tells both its own time and Redis's. */
function mappedUs(entry: ShownEntry, entries: readonly ShownEntry[]): number | undefined {
  if (isFinding(entry)) return undefined;
  let nearest: { readonly atMs: number; readonly serverUs: number } | undefined;
  for (const { serverUs, atMs, producer, kind } of entries) {
    if (serverUs === undefined || producer !== entry.producer || isFinding({ kind, atMs })) continue;
    if (!nearest || Math.abs(atMs - entry.atMs) < Math.abs(nearest.atMs - entry.atMs))
      nearest = { atMs, serverUs };
  }
  return nearest && nearest.serverUs + (entry.atMs - nearest.atMs) * US_PER_MS;
}
