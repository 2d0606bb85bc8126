import { isUtf8 } from 'node:buffer';
import type { LocksQuery } from './locks-query.js';

/** One lock in the answer of `/api/v1/locks`. */
export interface ShownLock {
  /** Lock id. */
  readonly lock: string;
  readonly resource: string;
  readonly type: string | null;
  /** `null`: without expiry. */
  readonly leftMs: number | null;
  /** Its lease has ended since it was looked at: Redis may have let it go, or given it to another. */
  readonly expired: boolean;
  readonly owner: string | null;
  /** Who that is, where a client reported the hold here; `null`: not known. */
  readonly holder: KnownHolder | null;
  /** Redis's clock when the present owner was first seen, and at the last look. */
  readonly firstSeenUs: number;
  readonly lastSeenUs: number;
  /** Only with `--reveal-keys`; base64 where the key is no UTF-8. */
  readonly key?: string;
  readonly keyBase64?: string;
}

/** The answer of `/api/v1/locks`. Without a good sample `locks` is empty, and `sample` and `reason` say why. */
export interface LocksAnswer {
  readonly store: string;
  readonly sample: string;
  readonly reason: string | null;
  /** Wall time of the sample; `null` without a good one. */
  readonly takenAtMs: number | null;
  readonly truncated: boolean;
  /** Locks that fit the query, those beyond the limit included. */
  readonly matching: number;
  readonly locks: readonly ShownLock[];
}

/** A holder that was reported here. */
export interface KnownHolder {
  readonly app: string | undefined;
  readonly instance: string | undefined;
  readonly fence: number | undefined;
}

/** A lock with its key. */
export type KeyedLock = Omit<ShownLock, 'key' | 'keyBase64' | 'expired' | 'holder'> & {
  readonly key: Buffer;
};

/** What the answer is made of. */
export interface LocksSource {
  state(): {
    readonly status: string;
    readonly reason: string | undefined;
    /** The last good sample, also while later ones fail. */
    readonly last: { readonly takenAtMs: number; readonly truncated: boolean } | undefined;
  };
  find(
    resource: string | undefined,
    limit: number,
  ): { readonly matching: number; readonly locks: readonly KeyedLock[] };
}

/** How locks are shown. */
export interface LocksOptions {
  readonly revealKeys: boolean;
  /** What clients reported of the hold with this owner digest. */
  holderOf(owner: string): KnownHolder | undefined;
}

/** Answers `/api/v1/locks`. @param source undefined when sampling is off */
export function answerLocks(
  query: LocksQuery,
  store: string,
  source: LocksSource | undefined,
  options: LocksOptions,
): LocksAnswer {
  const state = source?.state();
  const good = state?.status === 'ok' ? state.last : undefined;
  const { matching, locks } = source?.find(query.resource, query.limit) ?? { matching: 0, locks: [] };
  return {
    store,
    sample: state?.status ?? 'off',
    reason: state?.reason ?? null,
    takenAtMs: good?.takenAtMs ?? null,
    truncated: good?.truncated ?? false,
    matching,
    locks: locks.map((lock) => showLock(lock, options)),
  };
}

function showLock({ key, ...lock }: KeyedLock, { revealKeys, holderOf }: LocksOptions): ShownLock {
  const { lock: id, resource, type, leftMs, owner, ...seen } = lock;
  const known = owner === null ? undefined : holderOf(owner);
  const holder = known ? { app: known.app, instance: known.instance, fence: known.fence } : null;
  const shown = { lock: id, resource, type, leftMs, expired: leftMs === 0, owner, holder, ...seen };
  if (!revealKeys) return shown;
  return isUtf8(key) ? { ...shown, key: key.toString() } : { ...shown, keyBase64: key.toString('base64') };
}
