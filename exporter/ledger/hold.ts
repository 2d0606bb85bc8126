import type { Party } from './finding.js';
import type { LockHistory } from './lock-history.js';
import type { Producer } from './producers.js';

/**
 * `live`: its client believes to hold. `lost`: the work goes on, but client or sample know that the lock is gone. `silent`: its
 * client is silent beyond the lease. `unknown`: the acquire's outcome is not known. `ended`: the work settled, or nobody
 * reports it any more.
 */
export type HoldState = 'live' | 'lost' | 'silent' | 'unknown' | 'ended';

/**
 * A client reports a hold until the release was answered, though the work has settled and Redis may have let go. So its word
 * that it still holds counts only when it is younger than the doubt by the time that commands usually may take.
 */
export const RELEASE_UNDER_WAY_MS = 1500;

/** What a look on the master found in the place of a hold. */
export interface Suspicion {
  /** Awake time at which the look was told. */
  readonly sinceMs: number;
  readonly seenUs: number;
  readonly serverId: string;
  readonly found: string | undefined;
}

/** An overlap that was told and whose length is not. */
export interface OpenOverlap {
  /** The other's grant as it was told, by the clock of `serverId`. */
  readonly fromUs: number | undefined;
  readonly serverId: string | undefined;
  /** Awake times at which it was told, and at which the holder's end became known. */
  readonly toldMs: number;
  endedMs: number | undefined;
}

/** What a hold is known by from its first report on. */
export interface HoldFacts {
  readonly lock: string;
  readonly owner: string;
  readonly resource: string;
}

/**
 * One hold of one lock, merged from whatever order its reports come in. A token is never shared and never reused, so its
 * digest names the hold. One plain object: there are a hundred thousand of them.
 */
export class Hold {
  readonly lock: string;
  readonly owner: string;
  readonly resource: string;
  producer: Producer;
  state: HoldState = 'unknown';
  /** Of the grant; both or neither. */
  grantUs: number | undefined = undefined;
  serverId: string | undefined = undefined;
  fence: number | undefined = undefined;
  leaseMs = 0;
  /** Redis's clock at the end of the lease, as far as known, of `serverId`. */
  leaseEndUs: number | undefined = undefined;
  /** Awake time at which the lease is over at the latest: counted from the receipt. */
  leaseEndMs = 0;
  /** Awake time at which it became known. */
  readonly knownMs: number;
  /** Rises with each hold that becomes known. */
  readonly order: number;
  /** Redis's clock until which the work went on at least, of `workedServer`. */
  workedUntilUs: number | undefined = undefined;
  workedServer: string | undefined = undefined;
  /** The work has settled. */
  settled = false;
  /** `workedUntilUs` is the end of the work, to one round trip, and not just a lower bound. */
  endKnown = false;
  /** Its owner said that it gives the lock back, or said goodbye. */
  givenUp = false;
  /** Redis's clock when it answered the release. */
  releasedUs: number | undefined = undefined;
  loopDelayMs: number | undefined = undefined;
  /** What was told about it already. */
  toldOverlap = false;
  toldLoss = false;
  toldAbandoned = false;
  toldTakenOver = false;
  toldRegression = false;
  suspicion: Suspicion | undefined = undefined;
  open: OpenOverlap | undefined = undefined;
  /** Expiry that the key was last seen with after the owner gave up, and how often it rose. */
  expiresUs: number | undefined = undefined;
  rises = 0;
  /** Links of the list that `place` names: its producer's, or that of the ended. */
  place: 'active' | 'ended' | 'forgotten' = 'active';
  next: Hold | undefined = undefined;
  previous: Hold | undefined = undefined;
  /** Links of its lock's list. */
  older: Hold | undefined = undefined;
  younger: Hold | undefined = undefined;
  /** Undefined: it is the only hold of its lock. */
  history: LockHistory | undefined = undefined;

  constructor(facts: HoldFacts, producer: Producer, knownMs: number, order: number) {
    this.lock = facts.lock;
    this.owner = facts.owner;
    this.resource = facts.resource;
    this.producer = producer;
    this.knownMs = knownMs;
    this.order = order;
  }

  /** Nothing that is known of the other holds of its lock touches it. */
  get isFront(): boolean {
    return this.history === undefined || this.history.isFront(this);
  }

  /** Its grant becomes known. */
  grant(grantUs: number, serverId: string | undefined, fence: number | undefined): void {
    this.fence ??= fence;
    this.grantUs = grantUs;
    this.serverId = serverId;
    this.history?.granted(this);
  }

  /** Its fence becomes known, if it was not. */
  number(fence: number | undefined): void {
    this.fence ??= fence;
    this.history?.fenced(this.fence);
  }

  /** Its work went on until then. */
  work(untilUs: number, serverId: string): void {
    this.workedUntilUs = untilUs;
    this.workedServer = serverId;
    this.history?.worked(this);
  }
}

/** Whether another than the silent `hold` has been granted its lock since, by a report or by a look on the master. */
export function isTakenOver(hold: Hold, youngest: Hold | undefined): boolean {
  if (hold.suspicion?.found !== undefined) return true;
  for (let other = youngest; other; other = other.older) {
    if (other !== hold && isGranted(other) && isYounger(other, hold)) return true;
  }
  return false;
}

/** An acquire whose outcome is not known may have been none. */
function isGranted({ grantUs, givenUp, state }: Hold): boolean {
  return grantUs !== undefined || givenUp || state !== 'ended';
}

function isYounger(one: Hold, other: Hold): boolean {
  if (one.grantUs === undefined || other.grantUs === undefined || one.serverId !== other.serverId)
    return one.order > other.order;
  return one.grantUs > other.grantUs;
}

/** The hold as a side of a finding. */
export function partyOf({ owner, fence, grantUs, serverId, producer }: Hold): Party {
  const { name, app, instance } = producer;
  return { owner, fence, grantUs, serverId, producer: name, app, instance };
}
