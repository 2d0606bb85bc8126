import type { Finding } from '../../../../../exporter/ledger/finding.js';

/** One hold as it really was. Times end in `Ms` and are the world's. */
export interface TrueHold {
  readonly owner: string;
  readonly lock: string;
  /** Undefined: taken without one. */
  readonly fence: number | undefined;
  readonly producer: string;
  /** The server that granted it. */
  readonly server: string;
  readonly grantMs: number;
  /** Redis's clock at the grant. */
  readonly grantUs: number;
  readonly leaseMs: number;
  readonly watchdog: boolean;
  /** Its client's own deadline, which renewals move. */
  deadlineMs: number;
  /** End of the work: it settled, or its process ended. */
  endMs: number | undefined;
  /** The server whose clock the release told the end by; undefined: none was told. */
  toldBy: string | undefined;
  /** When the client first knew that it had lost the lock. */
  knewMs: number | undefined;
  /** Its owner gave it up: by a release, or by saying goodbye. */
  gaveUpMs: number | undefined;
  /** The key was renewed after that, by this owner's token. */
  readonly lateRenewalsMs: number[];
}

/**
 * What of a hold may arrive. `known`: anything that says that there is such a hold; `late`: after a later batch. `lost`: its client told that it had lost the
 * lock. `proof`: an answer of Redis that proves an overlap.
 */
export type Arrival = 'known' | 'late' | 'acquire' | 'release' | 'goodbye' | 'lost' | 'proof';

/** When it first arrived at one run of an exporter. */
export type Arrived = Partial<Record<Arrival, number>>;

/** What the clients of one run of an exporter made known to it. By that alone it can be judged. */
export interface Producing {
  /** World times at which its batches arrived in order. */
  heardMs: number;
  highest: number;
  /** What it holds is known: from its first batch on, or since its last full set, without a gap. */
  sure: boolean;
  closed: boolean;
}

/** One run of an exporter, from a start to the next. */
export interface Run {
  readonly exporter: number;
  readonly epoch: string;
  readonly startedMs: number;
  /** It ended, and another took its place. */
  endedMs: number | undefined;
  stoodStill: boolean;
  readonly arrived: Map<string, Arrived>;
  readonly producers: Map<string, Producing>;
  /** True expiries of a key as they were seen, told, and higher than before, after its owner had given it up. */
  readonly risesSeen: Map<string, number>;
}

/** A finding, when it came, of which run, and what that run had been told of its holder. */
export interface Told<F extends Finding = Finding> {
  readonly atMs: number;
  readonly run: Run;
  readonly finding: F;
  readonly producing: Producing | undefined;
  readonly arrived: Arrived;
}

/** The owner whose hold a finding is about. */
export function ownerOf(finding: Finding): string | undefined {
  return 'owner' in finding ? finding.owner : finding.holder.owner;
}

/**
 * The holds of its lock that a new master had granted when an old one, which had not learned of the failover, granted `hold`: both
 * believe to be the only one, and which grant came first no clock tells.
 */
export function rivalsOf(hold: TrueHold, holds: readonly TrueHold[]): TrueHold[] {
  return holds
    .filter(
      ({ lock, server, grantMs }) => lock === hold.lock && server > hold.server && grantMs < hold.grantMs,
    )
    .sort((a, b) => a.grantMs - b.grantMs);
}

/** The holds that were granted the lock while the work of `hold` went on, the first granted first. */
export function othersOf(hold: TrueHold, holds: readonly TrueHold[]): TrueHold[] {
  const endMs = hold.endMs ?? Number.POSITIVE_INFINITY;
  return holds
    .filter((other) => other.lock === hold.lock && other.grantMs > hold.grantMs && other.grantMs < endMs)
    .sort((a, b) => a.grantMs - b.grantMs);
}
