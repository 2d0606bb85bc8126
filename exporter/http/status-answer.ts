/** The answer of `/api/v1/status`, and what it is made of. Nothing of it is secret: no URL of Redis, no key, no token. */
export interface StatusAnswer {
  readonly store: string;
  /** Random name of this run. */
  readonly epoch: string;
  readonly version: string;
  /** Wall time. */
  readonly startedAtMs: number;
  /** By the monotonic clock. */
  readonly uptimeS: number;
  readonly sampler: { readonly mode: string; readonly [fact: string]: unknown };
  /** Producers known now. */
  readonly producers: number;
  /** Since the start. */
  readonly ingest: {
    readonly batches: Readonly<Record<string, number>>;
    readonly events: Readonly<Record<'received' | 'accepted' | 'rejected' | 'duplicate', number>>;
  };
  /** How full the ledger is. */
  readonly ledger: {
    /** Holds that are on, by their clients' reports. */
    readonly holds: number;
    /** Holds that have ended and are kept for late reports. */
    readonly ended: number;
    readonly locks: number;
    readonly producers: number;
    /** Forgotten for want of room, by table. */
    readonly evicted: { readonly [table: string]: number };
  };
  readonly listeners: Listeners;
}

/** Where the exporter listens, as URLs, or `unix:/path`. */
export interface Listeners {
  readonly metrics: string;
  readonly local: string;
}

/** What the status is made of. */
export interface StatusSource extends Omit<StatusAnswer, 'uptimeS' | 'sampler' | 'producers'> {
  readonly upMs: number;
  readonly sampleMode: string;
  /** What the sampler says of itself; undefined when sampling is off. */
  readonly sampler: object | undefined;
  readonly ingest: StatusAnswer['ingest'] & Pick<StatusAnswer, 'producers'>;
}

/** Answers `/api/v1/status`, with the fields in the order in which people read them. */
export function answerStatus(source: StatusSource): StatusAnswer {
  const { store, epoch, version, startedAtMs, upMs, sampleMode, sampler, ledger, listeners } = source;
  const { producers, batches, events } = source.ingest;
  return {
    store,
    epoch,
    version,
    startedAtMs,
    uptimeS: Math.floor(upMs) / 1000,
    sampler: { mode: sampleMode, ...sampler },
    producers,
    ingest: { batches, events },
    ledger,
    listeners,
  };
}
