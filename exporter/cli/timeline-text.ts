/** One entry of the answer of `/api/v1/timeline`, as far as the text shows it. */
export interface ShownEntry {
  readonly kind: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly serverUs?: number;
  readonly serverId?: string;
  readonly atMs: number;
  readonly owner?: string;
  readonly fence?: number;
  readonly latestFence?: number;
  readonly settledUs?: number;
  readonly leaseMs?: number;
  readonly spanMs?: number;
  readonly app?: string;
  readonly instance?: string;
}

/** The answer of `/api/v1/timeline`. */
export interface ShownTimeline {
  readonly store: string;
  readonly lock: string;
  readonly entries: readonly ShownEntry[];
}

const BAR_WIDTH = 60;
const US_PER_MS = 1000;

/** One hold as a bar: from its grant over its lease to the end of its work, by one server's clock. */
interface HoldBar {
  readonly owner: string;
  readonly fence: number | undefined;
  readonly grantUs: number;
  leaseEndUs: number;
  endUs: number | undefined;
}

/**
 * A lock's history as text: for each Redis server a list in the order of its clock, and a bar for each hold. `#` work under the
 * lease, `!` work beyond it, `>` not known to have ended. Times of two servers are never put on one scale.
 */
export function timelineText({ store, lock, entries }: ShownTimeline): string {
  const head = `Lock ${lock} of store ${store}`;
  if (entries.length === 0) return `${head}: nothing is remembered of it.\n`;
  const servers = new Set(entries.map(({ serverId }) => serverId));
  const parts = [...servers].map((serverId) =>
    serverText(
      serverId,
      entries.filter((one) => one.serverId === serverId),
    ),
  );
  const note = servers.size > 1 ? 'Several servers: their clocks are not compared.\n' : '';
  return `${head}\n${note}\n${parts.join('\n')}`;
}

function serverText(serverId: string | undefined, entries: readonly ShownEntry[]): string {
  const timed = entries.flatMap((entry) => {
    const us = entry.serverUs ?? entry.settledUs;
    return us === undefined ? [] : [{ entry, us }];
  });
  timed.sort((a, b) => a.us - b.us);
  const untimed = entries.filter(
    ({ serverUs, settledUs }) => serverUs === undefined && settledUs === undefined,
  );
  const startUs = timed[0]?.us ?? 0;
  const lines = [
    `Server ${serverId ?? 'unknown'}, times in ms since ${timed[0] ? new Date(startUs / US_PER_MS).toISOString() : '-'} by its clock`,
    ...timed.map(({ entry, us }) => `${msText(us - startUs)}  ${entryText(entry)}`),
    ...untimed.map(
      (entry) =>
        `${'-'.padStart(12)}  ${entryText(entry)}  at ${new Date(entry.atMs).toISOString()} by the client`,
    ),
    ...barLines(
      timed.map(({ entry }) => entry),
      startUs,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function msText(us: number): string {
  return (us / US_PER_MS).toFixed(3).padStart(12);
}

function entryText(entry: ShownEntry): string {
  const { kind, outcome, reason, owner, fence, latestFence, leaseMs, spanMs, app, instance } = entry;
  const facts = [
    fence === undefined ? '' : `fence ${fence}`,
    latestFence === undefined ? '' : `latest fence ${latestFence}`,
    leaseMs === undefined ? '' : `lease ${leaseMs} ms`,
    spanMs === undefined ? '' : `${spanWord(kind)} ${spanMs} ms`,
    reason ?? '',
    app === undefined ? '' : `${app} ${instance ?? ''}`.trim(),
  ];
  const words = `${kind} ${outcome ?? ''}`.padEnd(24);
  return `${(owner ?? '').slice(0, 8).padEnd(8)}  ${words}  ${facts.filter((fact) => fact !== '').join(', ')}`.trimEnd();
}

function spanWord(kind: string): string {
  if (kind === 'acquire') return 'waited';
  return kind === 'overlap_end' ? 'lasted' : 'held';
}

function barLines(entries: readonly ShownEntry[], startUs: number): string[] {
  const bars = [...holdBars(entries).values()];
  if (bars.length === 0) return [];
  const ends = bars.map((bar) => Math.max(bar.endUs ?? bar.leaseEndUs, bar.grantUs));
  const endUs = Math.max(...ends, ...entries.map(({ serverUs }) => serverUs ?? startUs), startUs + 1);
  return ['', ...bars.map((bar) => barText(bar, startUs, endUs))];
}

function holdBars(entries: readonly ShownEntry[]): Map<string, HoldBar> {
  const bars = new Map<string, HoldBar>();
  for (const { kind, outcome, owner, fence, serverUs, settledUs, leaseMs = 0 } of entries) {
    if (owner === undefined || serverUs === undefined) continue;
    const bar = bars.get(owner);
    if (kind === 'acquire' && outcome === 'acquired') {
      bars.set(owner, {
        owner,
        fence,
        grantUs: serverUs,
        leaseEndUs: serverUs + leaseMs * US_PER_MS,
        endUs: undefined,
      });
    } else if (bar && kind === 'renew' && outcome === 'renewed')
      bar.leaseEndUs = serverUs + leaseMs * US_PER_MS;
    else if (bar && kind === 'release') bar.endUs = settledUs ?? serverUs;
  }
  return bars;
}

function barText(
  { owner, fence, grantUs, leaseEndUs, endUs }: HoldBar,
  startUs: number,
  lastUs: number,
): string {
  const cellUs = (lastUs - startUs) / BAR_WIDTH;
  const cells = Array.from({ length: BAR_WIDTH }, (_, cell) => {
    const fromUs = startUs + cell * cellUs;
    const toUs = fromUs + cellUs;
    if (toUs <= grantUs || fromUs > (endUs ?? lastUs)) return ' ';
    if (endUs === undefined && fromUs >= leaseEndUs) return '>';
    return fromUs < leaseEndUs ? '#' : '!';
  });
  return `${owner.slice(0, 8)}  |${cells.join('')}|  fence ${fence ?? '-'}`;
}
