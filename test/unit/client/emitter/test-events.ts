import { expect } from 'vitest';
import type { EmitterSource, EventServer, PendingEvent } from '../../../../client/emitter/emitter.js';
import type { ChannelStats } from '../../../../client/emitter/event-tally.js';
import type { Hold } from '../../../../contract/batch.js';
import type { CommitEvent, LockEvent } from '../../../../contract/event.js';

const WALL_MS = 1_704_067_200_000;

/** A valid event that carries a number, so that tests can tell order and identity. */
export function numberedEvent(number: number): CommitEvent {
  return {
    kind: 'commit',
    atMs: WALL_MS,
    resource: 'stock',
    lock: number.toString(16).padStart(16, '0'),
    owner: 'fedcba9876543210',
    sinceGrantMs: number,
  };
}

export function pending(number: number, urgent = false): PendingEvent {
  return { urgent, encode: () => numberedEvent(number) };
}

/** The number of an event made by {@link numberedEvent}. */
export function numberOf(event: unknown): number {
  return (event as CommitEvent).sinceGrantMs;
}

export function numbersOf(events: readonly unknown[]): number[] {
  return events.map(numberOf);
}

/** The numbers from `from` on, `count` of them. */
export function range(count: number, from = 1): number[] {
  return Array.from({ length: count }, (_, at) => from + at);
}

/** An event that no exporter takes. */
export function invalidEvent(): PendingEvent {
  return { urgent: false, encode: () => ({ ...numberedEvent(1), lock: 'nonsense' }) as LockEvent };
}

export function hold(number: number, leaseMs = 5000): Hold {
  const lock = number.toString(16).padStart(16, '0');
  const owner = 'fedcba9876543210';
  return { lock, owner, resource: 'stock', grantUs: 1, leaseMs, leftMs: leaseMs, renewals: 0 };
}

/** A lock client's side, with holds that a test sets. */
export class TestSource implements EmitterSource {
  readonly store = 'main';
  held: Hold[] = [];
  current: EventServer = { id: 'run1' };

  server(): EventServer {
    return this.current;
  }

  holds(): Iterable<Hold> {
    return this.held;
  }

  holdCount(): number {
    return this.held.length;
  }

  shortestLeaseMs(): number | undefined {
    return this.held.length === 0 ? undefined : Math.min(...this.held.map(({ leaseMs }) => leaseMs));
  }
}

/** Holds the books against each other: nothing may vanish, nothing may be counted twice. */
export function expectBalanced(stats: ChannelStats): void {
  const dropped = Object.values(stats.dropped).reduce((sum, count) => sum + count, 0);
  expect(stats.accepted + stats.rejected + dropped + stats.queued).toBe(stats.emitted);
}
