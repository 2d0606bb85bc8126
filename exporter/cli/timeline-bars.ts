import { isGrant, type ShownEntry, shortOwner, US_PER_MS } from './timeline-entry.js';

const BAR_WIDTH = 60;
const INDENT = ' '.repeat(shortOwner('').length + 3);

/** One hold as a bar: from its grant over its lease to the end of its work, by one server's clock. */
interface HoldBar {
  readonly owner: string;
  readonly fence: number | undefined;
  readonly grantUs: number;
  leaseEndUs: number;
  endUs: number | undefined;
}

/**
 * The holds of one server as bars on one scale, with a legend and the scale's ends: `#` work under the lease, `!` work beyond
 * it, `>` not known to have ended. None without a grant.
 */
export function barLines(entries: readonly ShownEntry[], startUs: number): string[] {
  const bars = [...holdBars(entries).values()];
  if (bars.length === 0) return [];
  const ends = bars.map((bar) => Math.max(bar.endUs ?? bar.leaseEndUs, bar.grantUs));
  const endUs = Math.max(...ends, ...entries.map(({ serverUs }) => serverUs ?? startUs), startUs + 1);
  const end = `${((endUs - startUs) / US_PER_MS).toFixed(3)} ms`;
  return [
    '',
    'Holds on one scale: # work under the lease, ! work beyond it, > not known to have ended',
    `${INDENT}0${end.padStart(BAR_WIDTH - 1)}`,
    ...bars.map((bar) => barText(bar, startUs, endUs)),
  ];
}

function holdBars(entries: readonly ShownEntry[]): Map<string, HoldBar> {
  const bars = new Map<string, HoldBar>();
  for (const entry of entries) {
    const { kind, outcome, owner, fence, serverUs, settledUs, leaseMs = 0 } = entry;
    if (owner === undefined || serverUs === undefined) continue;
    const bar = bars.get(owner);
    const leaseEndUs = serverUs + leaseMs * US_PER_MS;
    if (isGrant(entry)) bars.set(owner, { owner, fence, grantUs: serverUs, leaseEndUs, endUs: undefined });
    else if (bar && kind === 'renew' && outcome === 'renewed') bar.leaseEndUs = leaseEndUs;
    else if (bar && kind === 'release') bar.endUs = settledUs ?? serverUs;
  }
  return bars;
}

function barText({ owner, fence, grantUs, leaseEndUs, endUs }: HoldBar, startUs: number, lastUs: number) {
  const cellUs = (lastUs - startUs) / BAR_WIDTH;
  const cells = Array.from({ length: BAR_WIDTH }, (_, cell) => {
    const fromUs = startUs + cell * cellUs;
    const toUs = fromUs + cellUs;
    if (toUs <= grantUs || fromUs > (endUs ?? lastUs)) return ' ';
    if (endUs === undefined && fromUs >= leaseEndUs) return '>';
    return fromUs < leaseEndUs ? '#' : '!';
  });
  return `${shortOwner(owner)}  |${cells.join('')}|  fence ${fence ?? '-'}`;
}
