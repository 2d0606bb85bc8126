import type { Settings } from './config/settings.js';
import type { IngestCounts } from './ingest-tally.js';
import type { SamplerState } from './sampler/sampler.js';

/** The answer of `/api/v1/status`. */
export interface StatusAnswer {
  readonly store: string;
  /** Random name of this run. */
  readonly epoch: string;
  readonly version: string;
  /** Wall time. */
  readonly startedAtMs: number;
  /** By the monotonic clock. */
  readonly uptimeS: number;
  readonly sampler: { readonly mode: Settings['sampleMode'] } & Partial<SamplerState>;
  readonly producers: number;
  readonly ingest: Omit<IngestCounts, 'producers'>;
  readonly ledger: LedgerFacts;
  readonly listeners: Listeners;
}

/** How full the ledger is. */
export interface LedgerFacts {
  readonly holds: number;
  readonly evicted: number;
}

/** Where the exporter listens, as URLs, or `unix:/path`. */
export interface Listeners {
  readonly metrics: string;
  readonly local: string;
}

/** What the status is made of. */
export interface StatusSource {
  readonly settings: Settings;
  readonly epoch: string;
  readonly version: string;
  readonly startedAtMs: number;
  readonly upMs: number;
  /** Undefined when sampling is off. */
  readonly sampler: SamplerState | undefined;
  readonly ingest: IngestCounts;
  readonly ledger: LedgerFacts;
  readonly listeners: Listeners;
}

/** Answers `/api/v1/status`. Nothing of it is secret: no URL of Redis, no key, no token. */
export function answerStatus(source: StatusSource): StatusAnswer {
  const { settings, epoch, version, startedAtMs, upMs, sampler, ledger, listeners } = source;
  const { producers, ...ingest } = source.ingest;
  return {
    store: settings.store,
    epoch,
    version,
    startedAtMs,
    uptimeS: Math.floor(upMs) / 1000,
    sampler: { mode: settings.sampleMode, ...sampler },
    producers,
    ingest,
    ledger: { holds: ledger.holds, evicted: ledger.evicted },
    listeners,
  };
}
