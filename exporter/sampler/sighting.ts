import { lockId } from '../../contract/lock-id.js';
import type { ObservedKind } from './observed-changes.js';
import type { KeyFacts } from './step.js';

/** When a key was looked at. */
export interface SightingTime {
  /** Monotonic, by this machine's clock. */
  readonly monoMs: number;
  /** Redis's clock; this machine's where Redis could not be asked. */
  readonly serverUs: number;
}

/** A lock key as it was last seen. */
export type Sighting = Readonly<OwnSighting>;

/** Changed in place from look to look: a new object for each key and sweep would be most of a sweep's work. */
export interface OwnSighting {
  /** The name, one character per byte. */
  readonly keyBytes: string;
  resource: string;
  type: string | null;
  owner: string | null;
  /** Whether this is the owner. Makes no text, unlike a look at `owner`. */
  isOwnedBy(owner: string | null): boolean;
  /** Monotonic; `null`: without expiry. */
  expiresMonoMs: number | null;
  /** The same by Redis's clock. */
  expiresUs: number | null;
  /** The longest remaining life that the present owner was seen with: a lower bound of its lease. */
  longestLeftMs: number;
  /** When the present owner was first seen: its hold is at least as old. */
  firstSeenMonoMs: number;
  firstSeenUs: number;
  lastSeenUs: number;
  /** Number of the sweep of its part of the keyspace that saw it last. */
  sweep: number;
}

/** A lock key of the present sample, for people and for what joins it with events. */
export interface SampledLock {
  /** Lock id. */
  readonly lock: string;
  readonly key: Buffer;
  readonly resource: string;
  /** Redis's name of the type; `null` when it was not asked for. */
  readonly type: string | null;
  /** Life left now, by the last look; `null`: without expiry. 0: it should be gone by now. */
  readonly leftMs: number | null;
  /** Digest of the owner token; `null` when the key is no string, or too large to read. */
  readonly owner: string | null;
  /** Redis's clock when the present owner was first seen. */
  readonly firstSeenUs: number;
  /** Redis's clock at the last look. */
  readonly lastSeenUs: number;
}

/**
 * An expiry moves by the milliseconds between Redis's reading of its clock for TIME and for PTTL; a renewal moves
 * it by a good part of a lease.
 */
const RENEWAL_TOLERANCE_US = 20_000;
/** A key that was last seen with this share of its lease left, and then was gone after its expiry, was not released. */
const EXPIRED_SHARE = 0.1;

/** Fills in what a first look at a key saw. */
export function sightFirst(sighting: OwnSighting, seen: KeyFacts, time: SightingTime): void {
  beginHold(sighting, seen.owner, seen, time);
  takeFacts(sighting, seen, time);
}

/**
 * A further look at a key. The same owner keeps its first time; a key whose owner cannot be read keeps it as long
 * as the type stays. Returns what must have happened since the last look, if anything: a lower bound, since two
 * renewals look like one.
 */
export function sightAgain(
  sighting: OwnSighting,
  seen: KeyFacts,
  time: SightingTime,
): ObservedKind | undefined {
  const { owner } = seen;
  const isSame = sighting.isOwnedBy(owner);
  const isReadable = owner !== null && !sighting.isOwnedBy(null);
  const change = isReadable ? changeOf(sighting, isSame, seen, time) : undefined;
  if (isSame && sighting.type === seen.type)
    sighting.longestLeftMs = Math.max(sighting.longestLeftMs, seen.leftMs ?? 0);
  else beginHold(sighting, owner, seen, time);
  takeFacts(sighting, seen, time);
  return change;
}

function beginHold(
  sighting: OwnSighting,
  owner: string | null,
  { leftMs }: KeyFacts,
  { monoMs, serverUs }: SightingTime,
): void {
  sighting.owner = owner;
  sighting.longestLeftMs = leftMs ?? 0;
  sighting.firstSeenMonoMs = monoMs;
  sighting.firstSeenUs = serverUs;
}

function takeFacts(sighting: OwnSighting, { type, leftMs }: KeyFacts, time: SightingTime): void {
  sighting.type = type;
  sighting.expiresMonoMs = leftMs === null ? null : time.monoMs + leftMs;
  sighting.expiresUs = leftMs === null ? null : time.serverUs + leftMs * 1000;
  sighting.lastSeenUs = time.serverUs;
}

/** Only where both owners can be read is a renewal told from a new hold. */
function changeOf(
  { expiresUs }: Sighting,
  isSame: boolean,
  { leftMs }: KeyFacts,
  { serverUs }: SightingTime,
): ObservedKind | undefined {
  if (!isSame) return 'handovers';
  if (expiresUs === null || leftMs === null) return undefined;
  return serverUs + leftMs * 1000 - expiresUs > RENEWAL_TOLERANCE_US ? 'renewals' : undefined;
}

/**
 * How a hold ended whose key was found gone at `goneUs`, by Redis's clock: before its expiry, so somebody deleted
 * it; or at its expiry, so nobody did. Undefined where it may have been either: it was last seen with much of its
 * lease left, and its expiry has passed since.
 */
export function endingOf(sighting: Sighting, goneUs: number): ObservedKind | undefined {
  const { expiresUs, lastSeenUs, longestLeftMs } = sighting;
  if (expiresUs === null || goneUs < expiresUs) return 'released';
  const leftMs = (expiresUs - lastSeenUs) / 1000;
  return leftMs <= EXPIRED_SHARE * longestLeftMs ? 'expired' : undefined;
}

/** What joins a sample with events needs of a sighting. No lock id: each costs 2 µs. */
export type SweptSighting = Pick<SampledLock, 'resource' | 'leftMs' | 'owner' | 'lastSeenUs'> &
  Pick<Sighting, 'expiresUs'>;

/** The sighting as it is joined with events. */
export function joinable(sighting: Sighting, nowMs: number): SweptSighting {
  const { resource, owner, lastSeenUs, expiresUs } = sighting;
  return { resource, leftMs: leftOf(sighting, nowMs), owner, lastSeenUs, expiresUs };
}

function leftOf({ expiresMonoMs }: Sighting, nowMs: number): number | null {
  return expiresMonoMs === null ? null : Math.max(0, Math.round(expiresMonoMs - nowMs));
}

/** The sighting as it is shown. */
export function showSighting(sighting: Sighting, store: string, nowMs: number): SampledLock {
  const key = Buffer.from(sighting.keyBytes, 'latin1');
  const { resource, type, owner, firstSeenUs, lastSeenUs } = sighting;
  return {
    lock: lockId(store, key),
    key,
    resource,
    type,
    leftMs: leftOf(sighting, nowMs),
    owner,
    firstSeenUs,
    lastSeenUs,
  };
}
