/**
 * Bounds of the histograms. A quantile never exceeds the largest finite bound, so that one lies beyond every
 * threshold of the alert rules. No bound is exactly 1 where a rule selects it by `le`: Prometheus 2 stores
 * `le="1"`, Prometheus 3 `le="1.0"`.
 */

/** From one round trip on a local network to the longest wait that a request still survives. */
export const WAIT_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** From a counter update to a batch job of half an hour. */
export const HOLD_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800,
] as const;

/** From a race of two clients to a holder that works on for a minute without its lock. */
export const OVERLAP_SECONDS = [0.01, 0.1, 1, 10, 60] as const;

/** Shares of a lease: dense around 1, where a lock begins to fail. */
export const LEASE_RATIO = [
  0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.001, 1.05, 1.25, 1.5, 2, 3, 5, 10,
] as const;

/** Lease left when a renewal is sent: a watchdog at a third of the lease shows about 0.67. */
export const MARGIN_RATIO = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] as const;

/** From the jitter of a healthy event loop to a pause longer than most leases. */
export const LATENESS_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The client's default ends a hold after 30 renewals (10 leases, renewed at a third). */
export const RENEWALS = [2, 5, 10, 20, 30, 50, 100, 300, 1000] as const;
