import { describe, expect, it } from 'vitest';
import { BATCH_EVENTS, BatchEncoder } from '../../../../client/emitter/batch-encoder.js';
import type { PendingEvent } from '../../../../client/emitter/emitter.js';
import { encodeEvent, MAX_EVENT_LENGTH } from '../../../../client/emitter/encode-event.js';
import { EncodedQueue } from '../../../../client/emitter/encoded-queue.js';
import { EventTally } from '../../../../client/emitter/event-tally.js';
import { HoldsReport } from '../../../../client/emitter/holds-report.js';
import { type Batch, batchSchema, MAX_BODY_BYTES } from '../../../../contract/batch.js';
import type { LockEvent } from '../../../../contract/event.js';
import { FakeClock } from '../../../support/clocks.js';
import { hold, numberedEvent, numbersOf, pending, range, TestSource } from './test-events.js';

function setUp() {
  const source = new TestSource();
  const tally = new EventTally();
  const queue = new EncodedQueue(100_000);
  const clock = new FakeClock();
  const identity = { producer: 'producer-1', startedAtMs: clock.wallMs(), app: 'shop', instance: 'pod-1' };
  const encoder = new BatchEncoder(identity, source.store, tally, clock);
  const push = (event: PendingEvent) => {
    const encoded = encodeEvent(event, source.server());
    if (typeof encoded === 'string') tally.drop(encoded);
    else queue.push(encoded);
  };
  return { source, tally, queue, encoder, clock, push };
}

function read(body: Buffer): Batch {
  expect(body.length).toBeLessThanOrEqual(MAX_BODY_BYTES);
  return batchSchema.parse(JSON.parse(body.toString('utf8')));
}

describe('BatchEncoder', () => {
  it('builds a batch of the contract, with the producer, the server and all drops so far', () => {
    const { encoder, queue, tally, clock, push } = setUp();
    tally.drop('queue_full', 3);
    push(pending(1));
    push(pending(2));
    expect(read(encoder.encode(queue, true, undefined, 'run1').body)).toEqual({
      v: 1,
      producer: 'producer-1',
      startedAtMs: clock.wallMs(),
      seq: 1,
      sentAtMs: clock.wallMs(),
      store: 'main',
      serverId: 'run1',
      app: 'shop',
      instance: 'pod-1',
      dropped: { queue_full: 3 },
      events: [numberedEvent(1), numberedEvent(2)],
    });
  });

  it('leaves the server out while it is not known, and holds out when there is nothing to say', () => {
    const { encoder, queue } = setUp();
    const batch = read(encoder.encode(queue, false).body);
    expect(batch).not.toHaveProperty('serverId');
    expect(batch).not.toHaveProperty('holds');
    expect(batch.events).toEqual([]);
  });

  it('splits what is too much for one batch, keeps the order, and counts batches from 1', () => {
    const { encoder, queue, push } = setUp();
    for (const number of range(BATCH_EVENTS * 2 + 1)) push(pending(number));
    const batches = [1, 2, 3].map(() => read(encoder.encode(queue, true).body));
    expect(batches.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(batches.map(({ events }) => events.length)).toEqual([BATCH_EVENTS, BATCH_EVENTS, 1]);
    expect(numbersOf(batches.flatMap(({ events }) => events))).toEqual(range(BATCH_EVENTS * 2 + 1));
  });

  it('keeps below the largest body when events are as long as can be, in characters of three bytes', () => {
    const { encoder, queue, push } = setUp();
    const resource = '錠'.repeat(MAX_EVENT_LENGTH - 300);
    for (const number of range(300)) {
      push({ urgent: false, encode: () => ({ ...numberedEvent(number), resource }) });
    }
    let sent = 0;
    while (queue.length > 0) {
      const batch = encoder.encode(queue, true);
      expect(batch.body.length).toBeLessThanOrEqual(MAX_BODY_BYTES);
      sent += batch.events;
    }
    expect(sent).toBe(300);
  });

  it('drops and counts an event that is too large alone, and reports that drop at once', () => {
    const { encoder, queue, tally, push } = setUp();
    const resource = 'x'.repeat(MAX_EVENT_LENGTH);
    push(pending(1));
    push({ urgent: false, encode: () => ({ ...numberedEvent(2), resource }) });
    push(pending(3));
    const batch = read(encoder.encode(queue, true).body);
    expect(numbersOf(batch.events)).toEqual([1, 3]);
    expect(batch.dropped).toEqual({ too_large: 1 });
    expect(tally.dropTotal).toBe(1);
  });

  it('lets an event that cannot be built cost only itself', () => {
    const { encoder, queue, push } = setUp();
    const broken = () => {
      throw new Error('broken');
    };
    push({ urgent: true, encode: broken });
    push(pending(2));
    push({ urgent: false, encode: () => undefined as unknown as LockEvent });
    push({ urgent: false, encode: () => ({ kind: 'commit', big: 1n }) as unknown as LockEvent });
    const batch = read(encoder.encode(queue, true).body);
    expect(numbersOf(batch.events)).toEqual([2]);
    expect(batch.dropped).toEqual({ encode_failed: 3 });
  });

  it('has room for events beside the largest part of a set of holds', () => {
    const { encoder, queue, source, clock, push } = setUp();
    const keyBase64 = 'A'.repeat(1024);
    source.held = range(1500).map((number) => ({ ...hold(number), keyBase64 }));
    for (const number of range(BATCH_EVENTS)) push(pending(number));
    const report = new HoldsReport(source, clock);
    const part = report.take(0);
    const batch = read(encoder.encode(queue, true, part).body);
    expect(batch.holdsMore).toBe(true);
    expect(batch.events.length).toBe(BATCH_EVENTS);
  });
});
