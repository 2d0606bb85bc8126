import type { AcquireEvent, LockEvent, LostEvent } from '../../../../contract/event.js';

/** Any field of any outcome: what does not belong to an outcome is there to be ignored. */
type Change = Record<string, unknown>;

/** The hold that the tests of the ledger are about. */
export const HOLD = {
  atMs: 1_796_000_000_000,
  resource: 'stock',
  lock: '0123456789abcdef',
  owner: 'aaaaaaaaaaaaaaaa',
  fence: 100,
} as const;

/** A grant of {@link HOLD}, with changes. */
export function acquired(change: Partial<AcquireEvent & { outcome: 'acquired' }> = {}): AcquireEvent {
  const grant = { mode: 'try', waitMs: 1, attempts: 1, leaseMs: 3000, watchdog: false } as const;
  return { ...HOLD, ...grant, kind: 'acquire', outcome: 'acquired', ...change };
}

/** A renewal that found the lock gone. */
export function renewal(change: Change = {}): LockEvent {
  return {
    ...HOLD,
    kind: 'renew',
    outcome: 'expired',
    leaseMs: 3000,
    leftMs: 0,
    lateMs: 0,
    ...change,
  } as LockEvent;
}

/** A pre-commit check that found the lock another's. */
export function check(change: Change = {}): LockEvent {
  return { ...HOLD, kind: 'check', outcome: 'stolen', ...change } as LockEvent;
}

/** A loss found by a renewal. */
export function lost(change: Partial<LostEvent> = {}): LostEvent {
  const loss = { by: 'renew', sinceGrantMs: 3000, leaseMs: 3000, loopDelayMs: 0 } as const;
  return { ...HOLD, ...loss, kind: 'lost', ...change };
}

/** A release that found the lock gone. */
export function release(change: Change = {}): LockEvent {
  const work = {
    holdMs: 4000,
    leaseMs: 3000,
    renewals: 0,
    peakUse: 1.3,
    lost: true,
    loopDelayMs: 0,
  } as const;
  return { ...HOLD, ...work, kind: 'release', outcome: 'expired', ...change } as LockEvent;
}
