import type { Party, SuspectWindow } from './finding.js';
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
  /** The suspect window as it was told last. */
  window: SuspectWindow;
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

/** Places of a hold's numbers in its block. */
const GRANT_US = 0;
const FENCE = 1;
const LEASE_END_US = 2;
const LEASE_END_MS = 3;
const KNOWN_MS = 4;
const WORKED_UNTIL_US = 5;
const RELEASED_US = 6;
const LOOP_DELAY_MS = 7;
const EXPIRES_US = 8;
/** Numbers that each hold keeps in a block. */
export const NUMBERS_PER_HOLD = 9;

/** What may be true of a hold, and then stays so. */
export const HOLD_MARKS = {
  /** The work has settled. */
  settled: 1,
  /** `workedUntilUs` is the end of the work, to one round trip, and not just a lower bound. */
  endKnown: 2,
  /** Its owner said that it gives the lock back, or said goodbye. */
  givenUp: 4,
  /** What was told about it already. */
  toldOverlap: 8,
  toldLoss: 16,
  toldAbandoned: 32,
  toldTakenOver: 64,
  toldRegression: 128,
} as const;
export type HoldMark = keyof typeof HOLD_MARKS;

/**
 * One hold of one lock, merged from whatever order its reports come in. A token is never shared and never reused, so its
 * digest names the hold.
 *
 * There are a hundred thousand of them, and a busy lock forgets them as fast as it makes them. So the object is used again for
 * another hold (`begin`), and its numbers lie in a block that it shares with others: a number in a field of its own takes 24
 * bytes and a piece of garbage for each change.
 */
export class Hold {
  readonly #numbers: Float64Array;
  readonly #at: number;
  lock = '';
  owner = '';
  resource = '';
  producer: Producer;
  state: HoldState = 'unknown';
  /** Of the grant; both or neither. */
  serverId: string | undefined = undefined;
  leaseMs = 0;
  /** Rises with each hold that becomes known. */
  order = 0;
  /** Server of `workedUntilUs`. */
  workedServer: string | undefined = undefined;
  #marks = 0;
  suspicion: Suspicion | undefined = undefined;
  open: OpenOverlap | undefined = undefined;
  /** How often `expiresUs` rose. */
  rises = 0;
  /** The list that it stands in: its producer's, that of the ended, or that of those to be used again. */
  place: 'active' | 'ended' | 'forgotten' | 'spare' = 'spare';
  /** Links of that list. */
  next: Hold | undefined = undefined;
  previous: Hold | undefined = undefined;
  /** Links of its lock's list. */
  older: Hold | undefined = undefined;
  younger: Hold | undefined = undefined;
  /** Undefined: it is the only hold of its lock. */
  history: LockHistory | undefined = undefined;

  /** @param at of its first number in the block */
  constructor(numbers: Float64Array, at: number, producer: Producer) {
    this.#numbers = numbers;
    this.#at = at;
    this.producer = producer;
  }

  /** Makes it another hold, of which nothing more is known. It stands in no list. */
  begin(facts: HoldFacts, producer: Producer, knownMs: number, order: number): void {
    this.lock = facts.lock;
    this.owner = facts.owner;
    this.resource = facts.resource;
    this.producer = producer;
    this.order = order;
    this.place = 'active';
    this.state = 'unknown';
    this.serverId = undefined;
    this.leaseMs = 0;
    this.workedServer = undefined;
    this.#marks = 0;
    this.rises = 0;
    this.#numbers.fill(Number.NaN, this.#at, this.#at + NUMBERS_PER_HOLD);
    this.#numbers[this.#at + KNOWN_MS] = knownMs;
    this.leaseEndMs = 0;
  }

  /** Redis's clock at the grant. */
  get grantUs(): number | undefined {
    return known(this.#numbers[this.#at + GRANT_US]);
  }

  get fence(): number | undefined {
    return known(this.#numbers[this.#at + FENCE]);
  }

  /** Redis's clock at the end of the lease, as far as known, of `serverId`. */
  get leaseEndUs(): number | undefined {
    return known(this.#numbers[this.#at + LEASE_END_US]);
  }

  set leaseEndUs(us: number) {
    this.#numbers[this.#at + LEASE_END_US] = us;
  }

  /** Awake time at which the lease is over at the latest: counted from the receipt. */
  get leaseEndMs(): number {
    return this.#numbers[this.#at + LEASE_END_MS] ?? 0;
  }

  set leaseEndMs(ms: number) {
    this.#numbers[this.#at + LEASE_END_MS] = ms;
  }

  /** Awake time at which it became known. */
  get knownMs(): number {
    return this.#numbers[this.#at + KNOWN_MS] ?? 0;
  }

  /** Redis's clock until which the work went on at least, of `workedServer`. */
  get workedUntilUs(): number | undefined {
    return known(this.#numbers[this.#at + WORKED_UNTIL_US]);
  }

  /** Redis's clock when it answered the release. */
  get releasedUs(): number | undefined {
    return known(this.#numbers[this.#at + RELEASED_US]);
  }

  set releasedUs(us: number | undefined) {
    this.#numbers[this.#at + RELEASED_US] = us ?? Number.NaN;
  }

  get loopDelayMs(): number | undefined {
    return known(this.#numbers[this.#at + LOOP_DELAY_MS]);
  }

  set loopDelayMs(ms: number) {
    this.#numbers[this.#at + LOOP_DELAY_MS] = ms;
  }

  /** Expiry that the key was last seen with after the owner gave up. */
  get expiresUs(): number | undefined {
    return known(this.#numbers[this.#at + EXPIRES_US]);
  }

  set expiresUs(us: number) {
    this.#numbers[this.#at + EXPIRES_US] = us;
  }

  is(mark: HoldMark): boolean {
    return (this.#marks & HOLD_MARKS[mark]) !== 0;
  }

  mark(mark: HoldMark): void {
    this.#marks |= HOLD_MARKS[mark];
  }

  /** Nothing that is known of the other holds of its lock touches it. */
  get isFront(): boolean {
    return this.history === undefined || this.history.isFront(this);
  }

  /** Its grant becomes known. */
  grant(grantUs: number, serverId: string | undefined, fence: number | undefined): void {
    this.#setFence(fence);
    this.#numbers[this.#at + GRANT_US] = grantUs;
    this.serverId = serverId;
    this.history?.granted(this);
  }

  /** Its fence becomes known, if it was not. */
  number(fence: number | undefined): void {
    this.#setFence(fence);
    this.history?.fenced(this.fence);
  }

  /** Its work went on until then. */
  work(untilUs: number, serverId: string): void {
    this.#numbers[this.#at + WORKED_UNTIL_US] = untilUs;
    this.workedServer = serverId;
    this.history?.worked(this);
  }

  #setFence(fence: number | undefined): void {
    if (fence !== undefined && this.fence === undefined) this.#numbers[this.#at + FENCE] = fence;
  }
}

function known(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
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
function isGranted(hold: Hold): boolean {
  return hold.grantUs !== undefined || hold.is('givenUp') || hold.state !== 'ended';
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
