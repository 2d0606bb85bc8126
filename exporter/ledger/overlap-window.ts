import type { Party } from './finding.js';

/** Others that a finding names; the rest is a number. On a hot lock, a long overrun meets dozens. */
export const MAX_OTHERS = 8;

/** Who was granted a lock while the work of one holder went on. */
export interface Others {
  /** The first granted first; those whose grant has no known time last. */
  readonly others: readonly Party[];
  /** Further ones that are known of. */
  readonly moreOthers: number;
}

/** Puts others in order, each once, and keeps the first {@link MAX_OTHERS}. @param more known of besides */
export function listOthers(parties: readonly Party[], more = 0): Others {
  const each: Party[] = [];
  for (const party of parties) {
    const at = each.findIndex((one) => isSame(one, party));
    const known = each[at];
    if (known === undefined) each.push(party);
    else if (known.owner === undefined) each[at] = party;
  }
  each.sort((one, other) => grantOf(one) - grantOf(other));
  return { others: each.slice(0, MAX_OTHERS), moreOthers: more + Math.max(0, each.length - MAX_OTHERS) };
}

/** An answer of Redis knows another by its fence only. */
function isSame(one: Party, other: Party): boolean {
  if (one.owner !== undefined && other.owner !== undefined) return one.owner === other.owner;
  return one.fence !== undefined && one.fence === other.fence;
}

function grantOf({ grantUs }: Party): number {
  return grantUs ?? Number.MAX_VALUE;
}
