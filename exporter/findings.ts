import type { Finding, Loss, LossFacts, OverlapEnd, OverlapOther, Party } from './ledger/finding.js';
import { listOthers } from './ledger/overlap-window.js';

/** What tells more of an overlap that was told before. */
type OverlapUpdate = OverlapOther | OverlapEnd;
type NewFinding = Exclude<Finding, OverlapUpdate> | Loss;

/** A finding as the one who is paged needs it first. */
export interface ShownFinding {
  readonly kind: NewFinding['kind'];
  /** Wall time of this exporter when it was found. */
  readonly foundAtMs: number;
  readonly store: string;
  readonly resource: string;
  /** Lock id. */
  readonly lock: string;
  readonly holder: Party;
  /** Of an overlap: the one who was granted the lock first meanwhile. */
  readonly other: Party | null;
  /** Of an overlap: everybody who was granted the lock meanwhile, the first first; at most 8, `other` among them. */
  readonly others: readonly Party[];
  /** Further ones that are known of. */
  readonly moreOthers: number;
  /** Redis's clock, in µs, of `serverId`: between these two both may have written. `null`: not known. */
  readonly suspectFromUs: number | null;
  readonly suspectUntilUs: number | null;
  readonly serverId: string | null;
  /** How long an overlap was: its suspect window; `null` as long as it is not known. */
  readonly lengthMs: number | null;
  readonly approximate: boolean;
  /** `null` where nothing is to be explained. */
  readonly cause: string | null;
  /** What showed it. */
  readonly provenBy: string | null;
  /** Of a loss, and of an overlap whose holder told its loss: how it knew, and what it measured. */
  readonly loss: LossFacts | null;
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

  /**
   * Takes a finding. An overlap takes the place of the loss of the same hold, and has its facts: a hold stands on the list as lost
   * or as overlapping, never as both.
   */
  add(finding: Finding | Loss, wallMs: number): void {
    if (finding.kind === 'overlap_other' || finding.kind === 'overlap_end') {
      this.#update(finding);
      return;
    }
    if (finding.kind === 'abandoned' && finding.takenOver && this.#takeOver(finding)) return;
    if (finding.kind === 'lost' && this.#isTold(finding)) return;
    const loss = finding.kind === 'overlap' ? this.#takeLoss(finding) : undefined;
    if (!loss) this.#total += 1;
    const shown = show(finding, wallMs);
    this.#shown.push(loss ? { ...shown, loss } : shown);
    if (this.#shown.length > this.#limit) this.#dropOldest();
  }

  /** The youngest first. */
  list(): readonly ShownFinding[] {
    return this.#shown.toReversed();
  }

  /** Losses leave first when they are most of the list: one resource that always overruns must not drive out the overlaps. */
  #dropOldest(): void {
    const losses = this.#shown.filter(({ kind }) => kind === 'lost').length;
    const at = losses > this.#limit / 2 ? this.#shown.findIndex(({ kind }) => kind === 'lost') : 0;
    this.#shown.splice(at, 1);
  }

  #placeOf(kind: ShownFinding['kind'], lock: string, owner: string | undefined): number {
    return this.#shown.findLastIndex(
      (one) => one.kind === kind && one.lock === lock && one.holder.owner === owner,
    );
  }

  /** The loss of an overlapping hold came after its overlap, or twice. */
  #isTold({ lock, holder: { owner }, loss }: Loss): boolean {
    const at = this.#placeOf('overlap', lock, owner);
    const shown = this.#shown[at];
    if (shown) this.#shown[at] = { ...shown, loss };
    return shown !== undefined || this.#placeOf('lost', lock, owner) >= 0;
  }

  /** Takes the loss of a hold from the list, if it is there. */
  #takeLoss({ lock, holder: { owner } }: Finding & { kind: 'overlap' }): LossFacts | undefined {
    const at = this.#placeOf('lost', lock, owner);
    return at < 0 ? undefined : (this.#shown.splice(at, 1)[0]?.loss ?? undefined);
  }

  /** The hold is on the list already: it was taken over only later. */
  #takeOver({ lock, holder: { owner } }: Finding & { kind: 'abandoned' }): boolean {
    const at = this.#placeOf('abandoned', lock, owner);
    const shown = this.#shown[at];
    if (!shown) return false;
    this.#shown[at] = { ...shown, takenOver: true };
    return true;
  }

  #update(update: OverlapUpdate): void {
    const at = this.#placeOf('overlap', update.lock, update.owner);
    const shown = this.#shown[at];
    if (shown) this.#shown[at] = withUpdate(shown, update);
  }
}

/** What an update does not name stays: it may come after what was told first is forgotten in the ledger. */
function withUpdate(shown: ShownFinding, update: OverlapUpdate): ShownFinding {
  const { others, moreOthers } = listOthers([...shown.others, ...update.others]);
  const sameClock = shown.serverId === (update.serverId ?? null);
  const fromUs = sameClock ? startOf(shown, update) : shown.suspectFromUs;
  const untilUs = (sameClock ? update.untilUs : undefined) ?? shown.suspectUntilUs;
  const isMeasured = update.kind === 'overlap_end' || shown.lengthMs !== null;
  const lengthMs = isMeasured && fromUs !== null && untilUs !== null ? (untilUs - fromUs) / 1000 : null;
  return {
    ...shown,
    other: others[0] ?? shown.other,
    others,
    moreOthers: Math.max(moreOthers, shown.moreOthers, update.moreOthers),
    suspectFromUs: fromUs,
    suspectUntilUs: untilUs,
    lengthMs: lengthMs ?? (update.kind === 'overlap_end' ? update.lengthMs : shown.lengthMs),
    approximate: update.kind === 'overlap_end' ? update.approximate : shown.approximate,
    cause: update.cause,
  };
}

/** Where no server is named, two times may be two servers': only those of one update belong together. */
function startOf(shown: ShownFinding, { fromUs, untilUs }: OverlapUpdate): number | null {
  if (shown.serverId === null && fromUs !== undefined && untilUs !== undefined) return fromUs;
  return earliest(shown.suspectFromUs, fromUs);
}

function earliest(shownUs: number | null, us: number | undefined): number | null {
  return shownUs === null || us === undefined ? (us ?? shownUs) : Math.min(shownUs, us);
}

function show(finding: NewFinding, foundAtMs: number): ShownFinding {
  const { kind, store, resource, lock, holder } = finding;
  const timeline = `/api/v1/timeline?lock=${lock}`;
  const common = { kind, foundAtMs, store, resource, lock, holder, ...UNKNOWN, timeline };
  switch (finding.kind) {
    case 'overlap': {
      const { other, others, moreOthers, fromUs, untilUs, serverId, cause, provenBy } = finding;
      const window = { suspectFromUs: fromUs ?? null, suspectUntilUs: untilUs ?? null, others, moreOthers };
      return { ...common, ...window, other, serverId: serverId ?? null, cause, provenBy };
    }
    case 'ghost_holder': {
      const { found, seenUs, serverId, cause } = finding;
      const other = found === undefined ? null : { ...NOBODY, owner: found };
      return { ...common, other, suspectFromUs: seenUs, serverId, cause };
    }
    case 'lost':
      return { ...common, serverId: holder.serverId ?? null, cause: finding.cause, loss: finding.loss };
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
  others: [],
  moreOthers: 0,
  suspectFromUs: null,
  suspectUntilUs: null,
  serverId: null,
  lengthMs: null,
  approximate: false,
  cause: null,
  provenBy: null,
  loss: null,
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
