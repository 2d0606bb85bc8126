import type { Finding, Party } from './ledger/finding.js';

/** A finding as the one who is paged needs it first. */
export interface ShownFinding {
  readonly kind: Exclude<Finding['kind'], 'overlap_end'>;
  /** Wall time of this exporter when it was found. */
  readonly foundAtMs: number;
  readonly store: string;
  readonly resource: string;
  /** Lock id. */
  readonly lock: string;
  readonly holder: Party;
  readonly other: Party | null;
  /** Redis's clock, in µs, of `serverId`: between these two both may have written. `null`: not known. */
  readonly suspectFromUs: number | null;
  readonly suspectUntilUs: number | null;
  readonly serverId: string | null;
  /** How long an overlap was; `null` as long as it is not known. */
  readonly lengthMs: number | null;
  readonly approximate: boolean;
  /** `null` where nothing is to be explained. */
  readonly cause: string | null;
  /** What showed it. */
  readonly provenBy: string | null;
  /** Of an abandoned hold: another was granted the lock. */
  readonly takenOver: boolean | null;
  /** Path of this listener with the lock's history. */
  readonly timeline: string;
}

/** The recent findings, bounded: a new one takes the place of the oldest. */
export class RecentFindings {
  readonly #limit: number;
  readonly #shown: ShownFinding[] = [];
  #total = 0;

  constructor(limit = 500) {
    this.#limit = limit;
  }

  /** Findings since the start, those that are gone from the list included. */
  get total(): number {
    return this.#total;
  }

  add(finding: Finding, wallMs: number): void {
    if (finding.kind === 'overlap_end') {
      this.#measure(finding);
      return;
    }
    if (finding.kind === 'abandoned' && finding.takenOver && this.#takeOver(finding)) return;
    this.#total += 1;
    this.#shown.push(show(finding, wallMs));
    if (this.#shown.length > this.#limit) this.#shown.shift();
  }

  /** The youngest first. */
  list(): readonly ShownFinding[] {
    return this.#shown.toReversed();
  }

  /** The hold is on the list already: it was taken over only later. */
  #takeOver({ lock, holder: { owner } }: Finding & { kind: 'abandoned' }): boolean {
    const at = this.#shown.findLastIndex(
      ({ kind, lock: of, holder }) => kind === 'abandoned' && of === lock && holder.owner === owner,
    );
    const shown = this.#shown[at];
    if (!shown) return false;
    this.#shown[at] = { ...shown, takenOver: true };
    return true;
  }

  #measure(end: Finding & { kind: 'overlap_end' }): void {
    const at = this.#shown.findLastIndex(
      ({ kind, lock, holder }) => kind === 'overlap' && lock === end.lock && holder.owner === end.owner,
    );
    const shown = this.#shown[at];
    if (!shown) return;
    const { lengthMs, approximate, cause } = end;
    const other = end.other ?? shown.other;
    const suspectUntilUs = end.untilUs ?? shown.suspectUntilUs;
    this.#shown[at] = { ...shown, other, lengthMs, approximate, cause, suspectUntilUs };
  }
}

function show(finding: Exclude<Finding, { kind: 'overlap_end' }>, foundAtMs: number): ShownFinding {
  const { kind, store, resource, lock, holder } = finding;
  const timeline = `/api/v1/timeline?lock=${lock}`;
  const common = { kind, foundAtMs, store, resource, lock, holder, ...UNKNOWN, timeline };
  switch (finding.kind) {
    case 'overlap': {
      const { other, fromUs, untilUs, serverId, cause, provenBy } = finding;
      const window = { suspectFromUs: fromUs ?? null, suspectUntilUs: untilUs ?? null };
      return { ...common, ...window, other, serverId: serverId ?? null, cause, provenBy };
    }
    case 'ghost_holder': {
      const { found, seenUs, serverId, cause } = finding;
      const other = found === undefined ? null : { ...NOBODY, owner: found };
      return { ...common, other, suspectFromUs: seenUs, serverId, cause };
    }
    case 'abandoned':
      return { ...common, serverId: holder.serverId ?? null, takenOver: finding.takenOver };
    case 'fence_regression':
      return { ...common, other: finding.other, serverId: holder.serverId ?? null };
    case 'zombie_renewal':
      return common;
    default:
      return finding satisfies never;
  }
}

const UNKNOWN = {
  other: null,
  suspectFromUs: null,
  suspectUntilUs: null,
  serverId: null,
  lengthMs: null,
  approximate: false,
  cause: null,
  provenBy: null,
  takenOver: null,
} as const;

const NOBODY: Party = Object.freeze({
  owner: undefined,
  fence: undefined,
  grantUs: undefined,
  serverId: undefined,
  producer: undefined,
  app: undefined,
  instance: undefined,
});
