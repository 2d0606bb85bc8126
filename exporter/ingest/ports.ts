import type { Hold } from '../../contract/batch.js';
import type { LockEvent } from '../../contract/event.js';
import type { IngestCounters } from '../metrics/ingest-counters.js';

/** What all events and holds of one batch have in common. */
export interface BatchContext {
  readonly store: string;
  readonly producer: string;
  /** Number of the batch, from 1. */
  readonly seq: number;
  readonly app: string;
  readonly instance: string;
  /** Wall time of the producer's start, by its own clock. */
  readonly startedAtMs: number;
  /** Wall time of the sending, by the producer's clock. */
  readonly sentAtMs: number;
  /** The Redis server that times and fences belong to, where an event or a hold names none. */
  readonly serverId: string | undefined;
  /** Monotonic time of the receipt, by this process's clock. */
  readonly receivedMonoMs: number;
  /** The producer says goodbye: it ends in order. */
  readonly closing: boolean;
}

/** Takes each accepted event, once, in the order of its batch. Not called for a rejected event or a resend. */
export interface EventPort {
  applyEvent(event: LockEvent, context: BatchContext): void;
}

/** Takes the holds that a batch carries, after its events. Not called for a batch without `holds`. */
export interface HoldsPort {
  /** @param complete false while the set goes on in the producer's next batch */
  applyHolds(holds: readonly Hold[], complete: boolean, context: BatchContext): void;
}

/** Hears of each producer that is alive: once per accepted batch, last of all. Not called for a resend. */
export interface HeartbeatPort {
  heartbeat(context: BatchContext): void;
}

/** Everything that ingest hands on to. A port that throws loses what it was handed, and nothing else. */
export interface IngestPorts {
  readonly events: EventPort;
  readonly holds: HoldsPort;
  readonly heartbeat: HeartbeatPort;
  readonly counters: IngestCounters;
  /** Hears of an error that a port threw: a fault of this program, never of the batch. */
  reportFault(error: unknown): void;
}
