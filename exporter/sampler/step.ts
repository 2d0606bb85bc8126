import type { RedisReason } from '../../contract/outcomes.js';
import type { LockKeys } from './key-pattern.js';

/** Which part of the keyspace to look at. */
export interface StepRequest {
  /** Where to go on; `'0'` to start. */
  readonly cursor: string;
  /** What to look for. No other key may be looked at: the user may have no right to it. */
  readonly lockKeys: LockKeys;
  /** How many slots of the table to look at. */
  readonly count: number;
}

/** What a look at one key saw. */
export interface KeyFacts {
  /** `null`: without expiry. */
  readonly leftMs: number | null;
  /** Redis's name of the type; `null` when it was not asked for. */
  readonly type: string | null;
  /** Digest of the value; `null` when it is no string, or too large to read. */
  readonly owner: string | null;
}

/** One key as a step saw it. Perhaps one and the same object for all keys of a step: not to be kept. */
export interface StepKey extends KeyFacts {
  /** The name lies in these bytes from `start` up to, but not including, `end`. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** The keys of a step, as an array of them is, or as the script sends them. */
export interface StepKeys {
  readonly length: number;
  forEach(take: (key: StepKey) => void): void;
}

/** What one look at a part of the keyspace saw. */
export interface StepReply {
  /** Where the next step starts; `'0'` after the last. */
  readonly cursor: string;
  /** Redis's clock; `null` where it could not be asked. */
  readonly serverUs: number | null;
  /** What the step cost the server, in µs; an upper bound where it could not be measured there. */
  readonly costUs: number;
  /** Keys that were gone before they could be looked at. */
  readonly vanished: number;
  /** Keys that the node lists but may not answer for. */
  readonly moved: number;
  /** Lock keys by their names, and no others. */
  readonly keys: StepKeys;
}

/** Looks at one part of the keyspace. Rejects with {@link StepFailure} and with nothing else. */
export type SampleStep = (request: StepRequest) => Promise<StepReply>;

/** Why a step failed, as data. The message holds nothing of what Redis said, which may name keys. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';
  readonly reason: RedisReason;

  constructor(reason: RedisReason, options?: { cause?: unknown }) {
    super(`The look at Redis failed: ${reason}`, options);
    this.reason = reason;
  }
}

/** The reason of a {@link StepFailure}. Throws what is none: a fault of this program. */
export function readFailure(error: unknown): { reason: RedisReason } {
  if (error instanceof StepFailure) return { reason: error.reason };
  throw error;
}

/** Values up to this many bytes are read for the owner's digest; owner tokens are far shorter. */
export const MAX_VALUE_BYTES = 1024;
