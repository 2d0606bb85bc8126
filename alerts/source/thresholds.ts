/**
 * Every number of the alert rules, each with its reason. Nothing else in `alerts/source/` holds a limit.
 * `durations` are seconds of the rules' own time: windows, `for`, `keep_firing_for`; a live test divides them by a
 * stated factor. `limits` and `floors` are about locks and stay as they are.
 */
export interface Thresholds {
  /** Seconds. */
  readonly durations: Readonly<Record<keyof typeof THRESHOLDS.durations, number>>;
  readonly limits: Readonly<Record<keyof typeof THRESHOLDS.limits, number>>;
  readonly floors: Readonly<Record<keyof typeof THRESHOLDS.floors, number>>;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The shipped values. */
export const THRESHOLDS = {
  durations: {
    /**
     * How often the alert rules are evaluated, whatever Prometheus does by default (a minute). Together with
     * `group_wait` of a page it stays below a scrape interval of 15 s, so that a page leaves within two of them.
     */
    evaluation: 5,
    /** Increments of event alerts. Longer than a scrape outage of ten minutes, so that a loss within it is seen after it. */
    eventWindow: 15 * MINUTE,
    /** At least the window, so that two of them within half an hour are one alert, not two. */
    eventKeep: 15 * MINUTE,
    /**
     * What mutes others must outlive them, or they come up as news when it ends. A page keeps five minutes longer than a
     * ticket: a release may find the lock gone that long after the loss.
     */
    eventPageKeep: 20 * MINUTE,
    /** It mutes the loss that is part of it. */
    overlapKeep: 25 * MINUTE,
    /** Counted from the end of its own, shorter window it still outlives every single loss that it mutes. */
    massLostKeep: 35 * MINUTE,
    /** A failover or flush is noticed by every holder within its lease; five minutes cover most leases. */
    massWindow: 5 * MINUTE,
    /** Bridges failed scrapes of a gauge: one at an interval of a minute, seven at fifteen seconds. */
    bridge: 2 * MINUTE,
    /** A resource's policy outlives its exporter by twice the window of an event alert. */
    policyWindow: 30 * MINUTE,
    /** Enough calls for the floor at four a minute, and short enough to end soon after the fault. */
    pageWindow: 5 * MINUTE,
    /** Tickets look longer: calls are rarer, and nobody waits for the answer. */
    ticketWindow: 15 * MINUTE,
    /** Foreign locks end rarely. */
    foreignWindow: HOUR,
    /** Anything that makes the picture incomplete stays visible this long. */
    incompleteWindow: 30 * MINUTE,
    /** Renewals of a zombie come at least this often: most leases are shorter than five minutes. */
    zombieWindow: 5 * MINUTE,
    /** A sample is due every 15 s, later on a large keyspace where the duty is spent. Ten missed are no such pause. */
    sampleAge: 5 * MINUTE,

    acquireFailingFor: 5 * MINUTE,
    acquireFailingKeep: 5 * MINUTE,
    holdBeyondLeaseFor: 5 * MINUTE,
    holdBeyondLeaseKeep: 10 * MINUTE,
    redisDownFor: 2 * MINUTE,
    /** Calls that failed in an outage fill a ticket's window and keep time; five minutes more for what was pending. */
    redisWasDownKeep: 25 * MINUTE,
    withoutExpiryFor: 5 * MINUTE,
    orphanKeysFor: 10 * MINUTE,
    zombieRenewalFor: 10 * MINUTE,
    acquireFailureRateHighFor: 10 * MINUTE,
    acquireFailureRateHighKeep: 5 * MINUTE,
    acquireWaitHighFor: 15 * MINUTE,
    holdNearLeaseFor: 15 * MINUTE,
    leaseNearlyUsedUpFor: 15 * MINUTE,
    notAcquiredFor: 5 * MINUTE,
    watchdogRunawayFor: 10 * MINUTE,
    renewalFailuresFor: 10 * MINUTE,
    foreignExpiredFor: 15 * MINUTE,
    hotLockSaturatedFor: 30 * MINUTE,
    sampleStaleFor: 5 * MINUTE,
    sampleTruncatedFor: 15 * MINUTE,
    eventsMissingFor: 10 * MINUTE,
    eventsDroppedFor: 5 * MINUTE,
    eventsRejectedFor: 5 * MINUTE,
    seqGapsFor: 10 * MINUTE,
    labelOverflowFor: 15 * MINUTE,
    unsureHoldersFor: 15 * MINUTE,
    exporterDownFor: 5 * MINUTE,
    exporterAbsentFor: 10 * MINUTE,
    contentionHighFor: 30 * MINUTE,
    hotLockSkewFor: 30 * MINUTE,
  },
  limits: {
    /** Half of all callers fail: users feel it. */
    acquireFailing: 0.5,
    /** One in five: capacity or Redis is in trouble, but most get through. */
    acquireFailureRateHigh: 0.2,
    /** Not 1: the buckets end at 1.001, and a quantile is interpolated within them; at 1 a hold of 0.99 leases could page. */
    holdBeyondLease: 1.001,
    /** A fifth of the lease is the room for one pause or slow call. */
    holdNearLease: 0.8,
    /** A watchdog at a third of the lease shows about 0.35; 0.8 means that two renewals in a row came too late. */
    leaseNearlyUsedUp: 0.8,
    /** As holdNearLease, for locks too rare for a quantile. */
    lastHoldNearLease: 0.8,
    /** Seconds. A caller behind a usual proxy has given up before; the next bucket ends at 10. */
    acquireWaitSeconds: 5,
    /** Five resources at once have nothing in common but their Redis. */
    massLostResources: 5,
    /** Half a minute late in each minute of the interval would be one missed run of four; jitter stays below. */
    notAcquiredIntervals: 1.25,
    /** The client's default gives a hold up after 30 renewals; above 100 somebody raised maxHoldMs for work that never ends. */
    renewalsPerHold: 100,
    /** As above, seen in Redis: 30 renewals are 10 leases; thrice that is nobody's plan. */
    oldestHoldLeases: 30,
    /** A single slow reply in twenty is a blip of the network; more endangers the lease. */
    renewalFailures: 0.05,
    /** One in twenty foreign locks that ends at its expiry: more than the odd crashed process. */
    foreignExpired: 0.05,
    /** At 0.8 a newcomer waits five times the hold time on average (1 ÷ (1 − busy)). */
    hotLockBusy: 0.8,
    /** One in ten holds of which nothing is known: findings may be missing. */
    unsureHolders: 0.1,
    /** Every second attempt finds the lock held. */
    contentionHigh: 0.5,
    /** One lock draws more attempts than all others together, and then some. */
    hotLockSkew: 0.6,
  },
  floors: {
    /** Calls in the window. One failure in one attempt is 100 % of nothing. */
    acquires: 20,
    /** Holds in the window, for the same reason. */
    holds: 20,
    /** Renewals in the window. */
    renewals: 20,
    /** Foreign locks that ended in the window. */
    foreignEnds: 20,
    /** Holds now. One unsure hold of one is the moment after a restart. */
    holders: 5,
    /** With fewer locks one of them is bound to lead. */
    hotLocks: 5,
    /** Attempts at hot locks in their window. */
    hotAttempts: 100,
  },
} as const;

/**
 * The same thresholds with every duration divided by `factor`, for a live proof that can't wait for half an hour.
 * Limits and floors are not touched: the same faults fire the same alerts, sooner.
 * @param factor above 0; 10 makes five minutes thirty seconds
 */
export function scaleDurations(thresholds: Thresholds, factor: number): Thresholds {
  const scaled = Object.entries(thresholds.durations).map(([name, seconds]) => [name, seconds / factor]);
  return { ...thresholds, durations: Object.fromEntries(scaled) as Thresholds['durations'] };
}
