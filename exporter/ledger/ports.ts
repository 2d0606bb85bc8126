/** What an event, a set of holds or a heartbeat came with. One object per batch. */
export interface BatchFacts {
  readonly store: string;
  readonly producer: string;
  /** Number of the batch, from 1. */
  readonly seq: number;
  readonly app: string;
  readonly instance: string;
  /** Wall time of the producer's start, by its own clock. */
  readonly startedAtMs: number;
  /** The Redis server that times and fences belong to, where an event or a hold names none. */
  readonly serverId: string | undefined;
  /** Monotonic time of the receipt, by this process's clock. */
  readonly receivedMonoMs: number;
  /** The producer says goodbye: it ends in order. */
  readonly closing: boolean;
}

/** What a look on the master says of a key that a client holds by its own word. */
export type HeldKeyLook = {
  /** Lock id. */
  readonly lock: string;
  readonly resource: string;
  /** Redis's clock at the look; comparable only within one `serverId`, which is `null` where it is not known. */
  readonly serverUs: number;
  readonly serverId: string | null;
} & (
  | { readonly state: 'gone' }
  | {
      readonly state: 'there';
      /** `null`: without expiry. */
      readonly leftMs: number | null;
      /** Digest of the value; `null` when it is no string, or too large to read. */
      readonly owner: string | null;
    }
);

/** A key in Redis as it was looked at. */
export interface SeenKey {
  readonly owner: string | null;
  /** Life left now; `null`: without expiry. */
  readonly leftMs: number | null;
  /** Redis's clock at the look. */
  readonly seenUs: number;
  /** Redis's clock at the key's expiry; `null`: without expiry. */
  readonly expiresUs: number | null;
}

/** A lock key as a sweep saw it. */
export interface SweptKey {
  readonly resource: string;
  /** Life left now, counted from the last look; `null`: without expiry. */
  readonly leftMs: number | null;
  readonly owner: string | null;
  /** Redis's clock at the last look. */
  readonly lastSeenUs: number;
  /** The same clock at the key's expiry; `null`: without expiry. */
  readonly expiresUs: number | null;
}

/**
 * Whose a key in Redis is. `held`: of a client that is heard of. `orphan`: of one that is silent. `foreign`: its owner was
 * never reported here.
 */
export type KeyStanding = 'held' | 'orphan' | 'foreign';
