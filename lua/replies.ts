import type { LookedKeys } from './looked-keys.js';
import type { SampledKeys } from './sampled-keys.js';

/**
 * What the scripts answer, as values. Times end in `Us` (microseconds, by Redis's clock) or `Ms` (milliseconds).
 * `leftMs` is the key's remaining life when the script ran; `null` when the key has no expiry.
 */

/** The lock key, or the fence key, holds something that no lock script wrote there (a hash, a list ...). Nothing was changed. */
export interface WrongType {
  word: 'wrong_type';
  of: 'lock' | 'fence';
}

/**
 * "You do not own this lock": the key is gone (`expired`) or holds another's token (`stolen`). Nothing was changed.
 * `latestFence` above the own fence: somebody was granted the lock meanwhile. Both are `null` without a fence key,
 * and when the fence key is gone or unreadable.
 */
export interface NotOwned {
  word: 'expired' | 'stolen';
  serverUs: number;
  latestFence: number | null;
  latestGrantUs: number | null;
}

/** The lock was free and is now the caller's. `serverUs` is the time of the grant; `fence` is `null` without a fence key. */
export interface Granted {
  word: 'granted';
  serverUs: number;
  fence: number | null;
}

/**
 * The lock already holds this very token: an earlier send of the same command was granted. That grant stands, its
 * lease was not extended. `fence` and `grantUs` are that grant's, `null` when the fence key is gone or not used;
 * `serverUs` is the time of this answer.
 */
export interface Own {
  word: 'own';
  serverUs: number;
  fence: number | null;
  grantUs: number | null;
  leftMs: number | null;
}

/** Acquire: another holds the lock. Check: the caller holds it. */
export interface Held {
  word: 'held';
  serverUs: number;
  leftMs: number | null;
}

export interface Renewed {
  word: 'renewed';
  serverUs: number;
}

export interface Released {
  word: 'released';
  serverUs: number;
}

export type AcquireReply = Granted | Own | Held | WrongType;
export type RenewReply = Renewed | NotOwned | WrongType;
export type ReleaseReply = Released | NotOwned | WrongType;
export type CheckReply = Held | NotOwned | WrongType;

/** One step of a sweep. A key may come twice in one sweep (SCAN promises no less): dedupe by name. */
export interface SampleReply {
  /** Where the next step starts, `'0'` after the last. May exceed 2^53: keep it a string. */
  cursor: string;
  serverUs: number;
  /** What the step cost the server; 0 where its clock stands still while a script runs. Negative when the clock was set. */
  tookUs: number;
  /** Keys that expired between SCAN and the look at them. */
  vanished: number;
  /** Keys that the node lists but may not answer for, as their slot is another node's. */
  moved: number;
  keys: SampledKeys;
}

/** A look at keys by name. */
export interface LookReply {
  serverUs: number;
  /** As in {@link SampleReply}. */
  tookUs: number;
  keys: LookedKeys;
}
