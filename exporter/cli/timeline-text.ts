import { barLines } from './timeline-bars.js';
import { isFinding, isGrant, type ShownEntry, shortOwner, US_PER_MS } from './timeline-entry.js';
import { orderByServer, type PlacedEntry, type ServerEntries } from './timeline-order.js';

/** The answer of `/api/v1/timeline`. */
export interface ShownTimeline {
  readonly store: string;
  readonly lock: string;
  readonly entries: readonly ShownEntry[];
}

/** Others that an overlap's line names. */
const MAX_OTHERS = 8;
const TIME_WIDTH = 12;

const CAUSES: Readonly<Record<string, string>> = {
  pause: 'probably a pause: the whole process stood still',
  slow_work: 'probably slow work: the process ran, the work took longer than the lease',
  renewal_failed: 'probably renewals that failed: the process ran, no renewal was confirmed in time',
  server_changed: 'another Redis server answered than the one that had granted',
  deleted: 'the key was gone before its lease ended',
  unknown: 'cause not known',
};

/**
 * A lock's history as text: for each Redis server a list in the order of its clock, and a bar for each hold. Times of two
 * servers are never put on one scale. `~` marks a time that was worked out.
 */
export function timelineText({ store, lock, entries }: ShownTimeline): string {
  const head = `Lock ${lock} of store ${store}`;
  if (entries.length === 0) return `${head}: nothing is remembered of it.\n`;
  const servers = orderByServer(entries);
  const note = servers.length > 1 ? 'Several servers: their clocks are not compared.\n' : '';
  return `${head}\n${note}\n${servers.map((server) => serverText(server)).join('\n')}`;
}

function serverText({ serverId, placed }: ServerEntries): string {
  const startUs = placed[0]?.us ?? 0;
  const since = placed[0]?.us === undefined ? '-' : new Date(startUs / US_PER_MS).toISOString();
  const entries = placed.map(({ entry }) => entry);
  const legend = placed.some(({ us, approximate }) => approximate && us !== undefined)
    ? '; ~ by the client’s clock'
    : '';
  const lines = [
    `Server ${serverId ?? 'unknown'}, times in ms since ${since} by its clock${legend}`,
    ...placed.map((one) => lineOf(one, startUs, entries)),
    ...barLines(entries, startUs),
  ];
  return `${lines.join('\n')}\n`;
}

function lineOf({ entry, us, approximate }: PlacedEntry, startUs: number, all: readonly ShownEntry[]) {
  const text = entryText(entry, all);
  if (us === undefined) {
    const whose = isFinding(entry) ? 'exporter' : 'client';
    return `${'-'.padStart(TIME_WIDTH)}  ${text}  at ${new Date(entry.atMs).toISOString()} by the ${whose}`;
  }
  const ms = ((us - startUs) / US_PER_MS).toFixed(approximate ? 0 : 3);
  return `${(approximate ? `~${ms}${' '.repeat(4)}` : ms).padStart(TIME_WIDTH)}  ${text}`;
}

function entryText(entry: ShownEntry, all: readonly ShownEntry[]): string {
  const { kind, outcome, reason, owner, fence, latestFence, leaseMs, spanMs, app, instance } = entry;
  const cause = isFinding(entry) ? outcome : undefined;
  const granted = kind === 'overlap' ? grantedMeanwhile(entry, all) : '';
  const facts = [
    fence === undefined ? '' : `fence ${fence}`,
    granted,
    latestFence === undefined || granted !== '' ? '' : `latest fence ${latestFence}`,
    leaseMs === undefined ? '' : `lease ${shortMs(leaseMs)} ms`,
    spanMs === undefined ? '' : `${spanWord(kind)} ${shortMs(spanMs)} ms`,
    reason ?? '',
    cause === undefined || kind === 'overlap_end' ? '' : (CAUSES[cause] ?? cause),
    app === undefined ? '' : `${app} ${instance ?? ''}`.trim(),
  ];
  const words = `${kind} ${cause === undefined ? (outcome ?? '') : ''}`.padEnd(24);
  return `${shortOwner(owner)}  ${words}  ${facts.filter((fact) => fact !== '').join(', ')}`.trimEnd();
}

/** Who was granted the lock from the beginning of an overlap until the late work settled. */
function grantedMeanwhile({ owner, serverUs = 0 }: ShownEntry, all: readonly ShownEntry[]): string {
  const end = all.find((one) => one.owner === owner && one.kind === 'overlap_end') ?? {
    settledUs: all.find((one) => one.owner === owner && one.kind === 'release')?.settledUs,
  };
  const untilUs = end.settledUs ?? Number.MAX_VALUE;
  const others = all.filter(
    (one) => isGrant(one) && one.owner !== owner && isWithin(one.serverUs ?? -1, serverUs, untilUs),
  );
  if (others.length === 0) return '';
  const names = others
    .slice(0, MAX_OTHERS)
    .map((one) => `${shortOwner(one.owner)} (fence ${one.fence ?? '-'})`);
  const more = others.length > MAX_OTHERS ? ` and ${others.length - MAX_OTHERS} more` : '';
  return `granted meanwhile: ${names.join(', ')}${more}`;
}

function isWithin(us: number, fromUs: number, untilUs: number): boolean {
  return us >= fromUs && us < untilUs;
}

function shortMs(ms: number): number {
  return Number(ms.toFixed(3));
}

function spanWord(kind: string): string {
  if (kind === 'acquire') return 'waited';
  if (kind === 'overlap_end') return 'lasted';
  return kind === 'release' ? 'held' : 'after';
}
