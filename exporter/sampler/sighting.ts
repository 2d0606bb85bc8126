import { lockId } from '../../contract/lock-id.js';
import type { ResourceClassifier } from '../../contract/resource.js';
import type { StepKey } from './step.js';

/** When and in which sweep a key was looked at. */
export interface SightingTime {
  /** Monotonic, by this machine's clock. */
  readonly monoMs: number;
  /** Redis's clock; this machine's where Redis could not be asked. */
  readonly serverUs: number;
  /** Number of the sweep, from 1. */
  readonly sweep: number;
}

/** A lock key as it was last seen. */
export type Sighting = Readonly<OwnSighting>;

/** Changed in place from look to look: a new object for each key and sweep would be most of a sweep's work. */
export interface OwnSighting {
  /** One character per byte: as a Buffer it would keep the whole reply alive. */
  keyBytes: string;
  resource: string;
  type: string | null;
  owner: string | null;
  /** Monotonic; `null`: without expiry. */
  expiresMonoMs: number | null;
  /** When the present owner was first seen: its hold is at least as old. */
  firstSeenMonoMs: number;
  firstSeenUs: number;
  lastSeenUs: number;
  sweep: number;
}

/** A lock key of the present sample, for people and for what joins it with events. */
export interface SampledLock {
  /** Lock id. */
  readonly id: string;
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

/** A first look at a key. */
export function sightFirst(
  keyBytes: string,
  seen: StepKey,
  time: SightingTime,
  classify: ResourceClassifier,
): OwnSighting {
  return {
    keyBytes,
    resource: classify(seen.key),
    type: seen.type,
    owner: seen.owner,
    expiresMonoMs: expiryOf(seen, time),
    firstSeenMonoMs: time.monoMs,
    firstSeenUs: time.serverUs,
    lastSeenUs: time.serverUs,
    sweep: time.sweep,
  };
}

/**
 * A further look at a key. The same owner keeps its first time; a key whose owner cannot be read keeps it as long
 * as the type stays.
 */
export function sightAgain(sighting: OwnSighting, seen: StepKey, time: SightingTime): void {
  if (sighting.owner !== seen.owner || sighting.type !== seen.type) {
    sighting.firstSeenMonoMs = time.monoMs;
    sighting.firstSeenUs = time.serverUs;
  }
  sighting.type = seen.type;
  sighting.owner = seen.owner;
  sighting.expiresMonoMs = expiryOf(seen, time);
  sighting.lastSeenUs = time.serverUs;
  sighting.sweep = time.sweep;
}

function expiryOf({ leftMs }: StepKey, { monoMs }: SightingTime): number | null {
  return leftMs === null ? null : monoMs + leftMs;
}

/** The sighting as it is shown. */
export function showSighting(sighting: Sighting, store: string, nowMs: number): SampledLock {
  const key = Buffer.from(sighting.keyBytes, 'latin1');
  const { resource, type, owner, expiresMonoMs, firstSeenUs, lastSeenUs } = sighting;
  return {
    id: lockId(store, key),
    key,
    resource,
    type,
    leftMs: expiresMonoMs === null ? null : Math.max(0, Math.round(expiresMonoMs - nowMs)),
    owner,
    firstSeenUs,
    lastSeenUs,
  };
}
