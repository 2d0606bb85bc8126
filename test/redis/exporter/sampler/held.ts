import { lockId, ownerDigest } from '../../../../contract/lock-id.js';
import type { HeldKeys } from '../../../../exporter/sampler/held-keys.js';

const COMMON = { atMs: 1_700_000_000_000, leaseMs: 30_000 } as const;

/** Tells of a client of the store `test` that was granted this key. */
export function holdKey(heldKeys: HeldKeys, key: string, token: string, resource = 'r'): void {
  heldKeys.applyEvent({
    ...COMMON,
    kind: 'acquire',
    outcome: 'acquired',
    mode: 'try',
    waitMs: 1,
    attempts: 1,
    watchdog: false,
    resource,
    lock: lockId('test', key),
    owner: ownerDigest(token),
    keyBase64: Buffer.from(key).toString('base64'),
  });
}

/** Tells that this client released it. */
export function releaseKey(heldKeys: HeldKeys, key: string, token: string, resource = 'r'): void {
  heldKeys.applyEvent({
    ...COMMON,
    kind: 'release',
    outcome: 'released',
    holdMs: 5,
    renewals: 0,
    peakUse: 0.1,
    lost: false,
    loopDelayMs: 0,
    resource,
    lock: lockId('test', key),
    owner: ownerDigest(token),
  });
}
