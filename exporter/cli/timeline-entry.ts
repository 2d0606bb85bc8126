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
  readonly producer?: string;
  readonly app?: string;
  readonly instance?: string;
}

export const US_PER_MS = 1000;

/** Digits of an owner that tell the holds of one lock apart. */
const OWNER_DIGITS = 8;

/** An owner as the text names it. */
export function shortOwner(owner: string | undefined): string {
  return (owner ?? '').slice(0, OWNER_DIGITS).padEnd(OWNER_DIGITS);
}

/** Whether somebody was granted the lock. */
export function isGrant({ kind, outcome }: ShownEntry): boolean {
  return kind === 'acquire' && outcome === 'acquired';
}

/** What the exporter found by itself: its wall time is the exporter's, not a client's. */
export function isFinding({ kind }: ShownEntry): boolean {
  return FINDINGS.has(kind);
}

const FINDINGS: ReadonlySet<string> = new Set([
  'overlap',
  'overlap_end',
  'ghost_holder',
  'zombie_renewal',
  'abandoned',
  'fence_regression',
]);
