import type { Batch, Hold } from '../../../../contract/batch.js';
import type { LockEvent } from '../../../../contract/event.js';
import { createIngest, type Ingest, type IngestResult } from '../../../../exporter/ingest/ingest.js';
import type { BatchContext, IngestPorts } from '../../../../exporter/ingest/ports.js';
import type { ProducerLimits } from '../../../../exporter/ingest/producers.js';
import { FakeClock } from '../../../support/clocks.js';

/** What an ingest counted. */
export interface Totals {
  received: number;
  accepted: number;
  rejected: number;
  duplicate: number;
  gaps: number;
  producers: number;
  forgotten: number;
  results: Record<string, number>;
  kinds: Record<string, number>;
  reasons: Record<string, number>;
  dropped: Record<string, number>;
}

/** An ingest of the store `orders`, and everything that came out of it. */
export interface IngestBench {
  ingest: Ingest;
  clock: FakeClock;
  totals: Totals;
  events: { event: LockEvent; context: BatchContext }[];
  holds: { holds: readonly Hold[]; complete: boolean }[];
  heartbeats: BatchContext[];
  faults: unknown[];
  /** The calls of all ports but the counters, in order. */
  calls: string[];
}

/** Makes an ingest whose ports write down what they are handed. */
export function makeIngest(
  limits: Partial<ProducerLimits> = {},
  replace: Partial<IngestPorts> = {},
): IngestBench {
  const clock = new FakeClock();
  const kept = { events: [], holds: [], heartbeats: [], faults: [], calls: [] };
  const bench: Omit<IngestBench, 'ingest'> = { clock, totals: noTotals(), ...kept };
  const ports = { ...recordingPorts(bench), ...replace };
  return { ...bench, ingest: createIngest({ store: 'orders', epoch: 'epoch-1', clock, ports, limits }) };
}

/** A valid batch without events, with changes. */
export function batch(change: Partial<Batch> = {}): Batch {
  return {
    v: 1,
    producer: 'producer-1',
    startedAtMs: 1_796_000_000_000,
    seq: 1,
    sentAtMs: 1_796_000_001_000,
    store: 'orders',
    app: 'shop',
    instance: 'shop-1',
    dropped: {},
    events: [],
    ...change,
  };
}

/** A valid event, or one that lacks a field. */
export function commit(good = true): LockEvent {
  const event = { kind: 'commit', atMs: 1_796_000_000_000, resource: 'stock', sinceGrantMs: 5 } as const;
  const hold = { lock: '0123456789abcdef', owner: 'fedcba9876543210' };
  return { ...event, ...hold, sinceGrantMs: good ? 5 : -5 };
}

/** The answer of a batch that was taken. @throws Error for a refusal */
export function answerOf(result: IngestResult) {
  if (result.status !== 200) throw new Error(`refused: ${result.refusal.error.message}`);
  return result.answer;
}

/** The refusal of a batch. @throws Error for one that was taken */
export function refusalOf(result: IngestResult) {
  if (result.status === 200) throw new Error('the batch was taken');
  return result.refusal.error;
}

function noTotals(): Totals {
  const numbers = {
    received: 0,
    accepted: 0,
    rejected: 0,
    duplicate: 0,
    gaps: 0,
    producers: 0,
    forgotten: 0,
  };
  return { ...numbers, results: {}, kinds: {}, reasons: {}, dropped: {} };
}

function recordingPorts(bench: Omit<IngestBench, 'ingest'>): IngestPorts {
  const { totals } = bench;
  const add = (counts: Record<string, number>, word: string, by = 1) => {
    counts[word] = (counts[word] ?? 0) + by;
  };
  return {
    events: {
      applyEvent: (event, context) => {
        bench.events.push({ event, context });
        bench.calls.push(event.kind);
      },
    },
    holds: {
      applyHolds: (holds, complete) => {
        bench.holds.push({ holds, complete });
        bench.calls.push('holds');
      },
    },
    heartbeat: {
      heartbeat: (context) => {
        bench.heartbeats.push(context);
        bench.calls.push('heartbeat');
      },
    },
    counters: {
      batch: (result) => add(totals.results, result),
      eventsReceived: (count) => {
        totals.received += count;
      },
      eventAccepted: (kind) => {
        totals.accepted += 1;
        add(totals.kinds, kind);
      },
      eventRejected: (reason) => {
        totals.rejected += 1;
        add(totals.reasons, reason);
      },
      eventsDuplicate: (count) => {
        totals.duplicate += count;
      },
      producerDropped: (reason, count) => add(totals.dropped, reason, count),
      seqGap: (count) => {
        totals.gaps += count;
      },
      producers: (count) => {
        totals.producers = count;
      },
      producersForgotten: (count) => {
        totals.forgotten += count;
      },
    },
    reportFault: (error) => bench.faults.push(error),
  };
}
