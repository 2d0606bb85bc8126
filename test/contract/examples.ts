import type { Batch, EventKind, LockEvent } from '../../contract/index.js';

const COMMON = {
  atMs: 1_796_000_000_000,
  resource: 'stock',
  lock: '0123456789abcdef',
  serverUs: 1_796_000_000_000_123,
};
const OF_HOLD = { ...COMMON, owner: 'fedcba9876543210', fence: 1_796_000_000_000_100 };
const LATEST = { latestFence: 1_796_000_000_500_000, latestGrantUs: 1_796_000_000_500_000 };
const ACQUIRE = {
  ...COMMON,
  kind: 'acquire',
  mode: 'wait',
  waitMs: 12.5,
  attempts: 2,
  leaseMs: 3000,
  watchdog: false,
} as const;
const RELEASE = {
  ...OF_HOLD,
  kind: 'release',
  holdMs: 812.25,
  leaseMs: 3000,
  renewals: 0,
  peakUse: 0.27,
  settledUs: 1_796_000_000_812_000,
  loopDelayMs: 3,
} as const;

/** Valid events: for each kind one of each outcome that has fields of its own, all optional fields present. */
export const EXAMPLE_EVENTS: Record<EventKind, LockEvent[]> = {
  acquire: [
    {
      ...ACQUIRE,
      outcome: 'acquired',
      owner: OF_HOLD.owner,
      fence: OF_HOLD.fence,
      keyBase64: 'bG9jazpzdG9jazox',
      traceId: '4bf92f3577b34da6',
    },
    { ...ACQUIRE, mode: 'try', attempts: 1, outcome: 'contended' },
    { ...ACQUIRE, outcome: 'timeout', reason: 'wait_limit' },
    { ...ACQUIRE, attempts: 0, outcome: 'aborted', reason: 'shed' },
    { ...ACQUIRE, outcome: 'error', reason: 'readonly' },
    { ...ACQUIRE, outcome: 'unknown', reason: 'command_timeout', owner: OF_HOLD.owner },
  ],
  renew: [
    { ...OF_HOLD, kind: 'renew', outcome: 'renewed', leaseMs: 3000, leftMs: 2000, lateMs: 0.5 },
    { ...OF_HOLD, ...LATEST, kind: 'renew', outcome: 'stolen', leaseMs: 3000, leftMs: 12, lateMs: 1900 },
    { ...OF_HOLD, kind: 'renew', outcome: 'error', reason: 'readonly', leaseMs: 3000, leftMs: 12, lateMs: 0 },
  ],
  check: [
    { ...OF_HOLD, kind: 'check', outcome: 'held' },
    { ...OF_HOLD, ...LATEST, kind: 'check', outcome: 'expired' },
  ],
  lost: [
    {
      ...OF_HOLD,
      ...LATEST,
      kind: 'lost',
      by: 'deadline',
      sinceGrantMs: 3000.1,
      leaseMs: 3000,
      loopDelayMs: 1200,
    },
  ],
  release: [
    { ...RELEASE, outcome: 'released', lost: false },
    { ...RELEASE, ...LATEST, outcome: 'expired', lost: true, holdMs: 4100, peakUse: 1.37 },
    { ...RELEASE, outcome: 'unknown', reason: 'connection', lost: false },
  ],
  commit: [{ ...OF_HOLD, kind: 'commit', sinceGrantMs: 640 }],
  fence: [{ ...OF_HOLD, kind: 'fence', outcome: 'rejected', seen: 1_796_000_000_500_000 }],
  duplicate: [{ ...COMMON, kind: 'duplicate', outcome: 'absorbed', owner: OF_HOLD.owner }],
};

/** A valid batch with one of each example event and one hold. */
export function exampleBatch(): Batch {
  return {
    v: 1,
    producer: 'c7a1d2f4-0b6e-4f0e-9a53-3f1d2b4c5d6e',
    startedAtMs: 1_796_000_000_000,
    seq: 1,
    sentAtMs: 1_796_000_001_000,
    store: 'default',
    serverId: 'a'.repeat(40),
    app: 'shop',
    instance: 'shop-1',
    dropped: { queue_full: 2 },
    holds: [
      {
        lock: COMMON.lock,
        owner: OF_HOLD.owner,
        resource: 'stock',
        fence: OF_HOLD.fence,
        grantUs: 1_796_000_000_000_100,
        leaseMs: 3000,
        leftMs: 2400,
        renewals: 0,
        keyBase64: 'bG9jazpzdG9jazox',
      },
    ],
    events: Object.values(EXAMPLE_EVENTS).flat(),
  };
}
