import { describe, expect, it } from 'vitest';
import type { EventHandler } from '../../../../client/emitter/in-process-emitter.js';
import { createInProcessEmitter } from '../../../../client/emitter/in-process-emitter.js';
import type { LockEvent } from '../../../../contract/event.js';
import { FakeClock } from '../../../support/clocks.js';
import { expectBalanced, numbersOf, pending, range, TestSource } from './test-events.js';

function setUp(sink: EventHandler, queueLimit = 100) {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  const channel = createInProcessEmitter(sink, { queueLimit, clock, onWarning }).open(new TestSource());
  return { clock, warnings, channel };
}

describe('createInProcessEmitter', () => {
  it('hands events on in order, in a later turn, those of one turn together', async () => {
    const calls: number[][] = [];
    const { channel, clock } = setUp((events) => void calls.push(numbersOf(events)));
    for (const number of range(3)) channel.emit(pending(number, number === 2));
    expect(calls).toEqual([]);
    await clock.settle();
    expect(calls).toEqual([[1, 2, 3]]);
    expect(channel.stats()).toEqual({ emitted: 3, accepted: 3, rejected: 0, dropped: {}, queued: 0 });
  });

  it.each<[string, EventHandler]>([
    [
      'throws',
      () => {
        throw new Error('full disk');
      },
    ],
    ['rejects', () => Promise.reject(new Error('full disk'))],
  ])('goes on when the sink %s, counts the events as refused and warns once', async (_, sink) => {
    const { channel, clock, warnings } = setUp(sink);
    for (const number of range(3)) {
      channel.emit(pending(number));
      await clock.settle();
    }
    expect(channel.stats()).toMatchObject({ emitted: 3, dropped: { refused: 3 } });
    expect(warnings).toEqual([
      'the sink of lock events failed, and its events are dropped: Error: full disk',
    ]);
  });

  it('calls a slow sink once at a time and keeps a bounded number of events for it', async () => {
    const releases: (() => void)[] = [];
    const calls: number[][] = [];
    const sink = (events: LockEvent[]) => {
      calls.push(numbersOf(events));
      return new Promise<void>((resolve) => releases.push(resolve));
    };
    const { channel, clock } = setUp(sink, 2);
    for (const number of range(5)) {
      channel.emit(pending(number));
      await clock.settle();
    }
    expect(calls).toEqual([[1]]);
    expect(channel.stats()).toMatchObject({ queued: 3, dropped: { queue_full: 2 } });
    releases.shift()?.();
    await clock.settle();
    expect(calls).toEqual([[1], [4, 5]]);
    expectBalanced(channel.stats());
    releases.shift()?.();
    await channel.close();
    expect(channel.stats().accepted).toBe(3);
  });

  it('closes in time when the sink hangs, and counts what it holds as shut down', async () => {
    const { channel, clock } = setUp(() => new Promise(() => {}));
    channel.emit(pending(1));
    await clock.settle();
    channel.emit(pending(2));
    const closed = channel.close(50);
    await clock.advance(50);
    await closed;
    channel.emit(pending(3));
    expect(channel.stats()).toEqual({
      emitted: 3,
      accepted: 0,
      rejected: 0,
      dropped: { shutdown: 3 },
      queued: 0,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets an event that cannot be built cost only itself', async () => {
    const calls: number[][] = [];
    const { channel } = setUp((events) => void calls.push(numbersOf(events)));
    channel.emit({
      urgent: false,
      encode: () => {
        throw new Error('bug');
      },
    });
    channel.emit(pending(2));
    await channel.close();
    expect(calls).toEqual([[2]]);
    expect(channel.stats()).toMatchObject({ accepted: 1, dropped: { encode_failed: 1 } });
  });
});
