import { describe, expect, it } from 'vitest';
import type { EncodedBatch } from '../../../../client/emitter/batch-encoder.js';
import { BatchSender, type PostPort } from '../../../../client/emitter/batch-sender.js';
import type { PostReply } from '../../../../client/emitter/verdict.js';
import { FakeClock } from '../../../support/clocks.js';

const DONE: PostReply = {
  kind: 'answered',
  status: 200,
  text: JSON.stringify({ epoch: 'e', accepted: 1, rejected: [], duplicate: false }),
};
const DOWN: PostReply = { kind: 'failed', text: 'connect ECONNREFUSED', staleSocket: false };
const STALE: PostReply = { kind: 'failed', text: 'socket hang up', staleSocket: true };
const BATCH: EncodedBatch = {
  seq: 1,
  body: Buffer.from('{}'),
  events: 1,
  holds: undefined,
  closing: false,
  dropTotal: 0,
};

function status(code: number, retryAfter?: string): PostReply {
  return { kind: 'answered', status: code, text: '', ...(retryAfter !== undefined && { retryAfter }) };
}

/** A wire that answers as told, and never when nothing is left to tell. */
class ScriptedPort implements PostPort {
  readonly posted: Buffer[] = [];
  aborts = 0;

  constructor(readonly replies: PostReply[]) {}

  post(body: Buffer): Promise<PostReply> {
    this.posted.push(body);
    const reply = this.replies.shift();
    return reply ? Promise.resolve(reply) : new Promise(() => {});
  }

  abort(): void {
    this.aborts += 1;
  }
}

function setUp(...replies: PostReply[]) {
  const clock = new FakeClock();
  const port = new ScriptedPort(replies);
  const log: string[] = [];
  const sender = new BatchSender(port, clock, () => 0.5, {
    done: (batch) => log.push(`done ${batch.seq}`),
    refused: (batch, text) => log.push(`refused ${batch.seq}: ${text}`),
    failed: (text) => log.push(`failed: ${text}`),
  });
  return { clock, port, log, sender };
}

describe('BatchSender', () => {
  it('is free again when a batch is delivered, and has no timer', async () => {
    const { sender, log, clock } = setUp(DONE);
    sender.send(BATCH);
    expect(sender.batch).toBe(BATCH);
    await clock.settle();
    expect(log).toEqual(['done 1']);
    expect(sender.batch).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it('posts the very same bytes until they are taken, in growing pauses', async () => {
    const { sender, log, port, clock } = setUp(DOWN, status(500), status(429), DONE);
    sender.send(BATCH);
    await clock.settle();
    expect(clock.nextTimerInMs).toBe(100);
    await clock.advance(100);
    expect(clock.nextTimerInMs).toBe(200);
    await clock.advance(200);
    expect(clock.nextTimerInMs).toBe(400);
    await clock.advance(400);
    expect(log.at(-1)).toBe('done 1');
    expect(port.posted).toHaveLength(4);
    expect(new Set(port.posted)).toEqual(new Set([BATCH.body]));
  });

  it('gives a refused batch up at once', async () => {
    const { sender, log, port, clock } = setUp(status(413));
    sender.send(BATCH);
    await clock.settle();
    expect(log).toEqual(['refused 1: answered 413']);
    expect(port.posted).toHaveLength(1);
    expect(sender.batch).toBeUndefined();
  });

  it('waits as long as a busy exporter asks', async () => {
    const { sender, clock } = setUp(status(503, '5'));
    sender.send(BATCH);
    await clock.settle();
    expect(clock.nextTimerInMs).toBe(5100);
  });

  it('tries slowly while the set-up is wrong', async () => {
    const { sender, clock } = setUp(status(401), status(404));
    sender.send(BATCH);
    await clock.settle();
    expect(clock.nextTimerInMs).toBe(5000);
    await clock.advance(5000);
    expect(clock.nextTimerInMs).toBe(10_000);
  });

  it('replaces a stale connection at once and without a word', async () => {
    const { sender, log, port, clock } = setUp(STALE, DONE);
    sender.send(BATCH);
    await clock.settle();
    expect(log).toEqual(['done 1']);
    expect(port.posted).toHaveLength(2);
  });

  it('ends a pause when it is hurried, and does not post twice at a time', async () => {
    const { sender, port, clock } = setUp(DOWN);
    sender.send(BATCH);
    await clock.settle();
    sender.hurry();
    sender.hurry();
    expect(port.posted).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ignores the late answer of a batch that was given up', async () => {
    const { sender, log, port, clock } = setUp(DONE);
    sender.send(BATCH);
    expect(sender.abandon()).toBe(BATCH);
    await clock.settle();
    expect(log).toEqual([]);
    expect(port.aborts).toBe(1);
    expect(sender.abandon()).toBeUndefined();
    expect(port.aborts).toBe(1);
  });
});
