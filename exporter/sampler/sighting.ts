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
export interface Sighting {
  /** One character per byte: as a Buffer it would keep the whole reply alive. */
  readonly keyBytes: string;
  readonly resource: string;
  readonly type: string | null;
  readonly owner: string | null;
  /** Monotonic; `null`: without expiry. */
  readonly expiresMonoMs: number | null;
  /** When the present owner was first seen: its hold is at least as old. */
  readonly firstSeenMonoMs: number;
  readonly firstSeenUs: number;
  readonly lastSeenUs: number;
  readonly sweep: number;
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

/**
 * What is known of a key after a look at it. The same owner keeps its first time; a key whose owner cannot be
 * read keeps it as long as the type stays.
 */
export function sightAgain(
  before: Sighting | undefined,
  seen: StepKey,
  keyBytes: string,
  time: SightingTime,
  classify: ResourceClassifier,
): Sighting {
  const same = before !== undefined && before.owner === seen.owner && before.type === seen.type;
  return {
    keyBytes: before?.keyBytes ?? keyBytes,
    resource: before?.resource ?? classify(seen.key),
    type: seen.type,
    owner: seen.owner,
    expiresMonoMs: seen.leftMs === null ? null : time.monoMs + seen.leftMs,
    firstSeenMonoMs: same ? before.firstSeenMonoMs : time.monoMs,
    firstSeenUs: same ? before.firstSeenUs : time.serverUs,
    lastSeenUs: time.serverUs,
    sweep: time.sweep,
  };
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
