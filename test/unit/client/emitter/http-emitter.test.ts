import { afterEach, describe, expect, it } from 'vitest';
import { CONFIGURATION_BACKOFF, TRANSIENT_BACKOFF } from '../../../../client/emitter/backoff.js';
import { BATCH_EVENTS } from '../../../../client/emitter/batch-encoder.js';
import type { ChannelStats } from '../../../../client/emitter/event-tally.js';
import type { HttpEventChannel } from '../../../../client/emitter/http-channel.js';
import { createHttpEmitter, type HttpEmitterOptions } from '../../../../client/emitter/http-emitter.js';
import { MAX_BATCH_HOLDS } from '../../../../contract/batch.js';
import { FakeClock } from '../../../support/clocks.js';
import { makeTempDir } from '../../../support/temp-dir.js';
import { waitFor } from '../../../support/wait-for.js';
import {
  expectBalanced,
  hold,
  invalidEvent,
  numberedEvent,
  numbersOf,
  pending,
  range,
  TestSource,
} from './test-events.js';
import { TestExporter } from './test-exporter.js';

const cleanUps: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startExporter(): Promise<TestExporter> {
  const exporter = await new TestExporter().start();
  cleanUps.push(() => exporter.stop());
  return exporter;
}

function open(options: Partial<HttpEmitterOptions> = {}) {
  const clock = new FakeClock();
  const source = new TestSource();
  const warnings: string[] = [];
  const emitter = createHttpEmitter({
    app: 'shop',
    clock,
    random: () => 0.5,
    onWarning: (message) => warnings.push(message),
    ...options,
  });
  const channel = emitter.open(source);
  cleanUps.push(() => channel.close(0));
  return { clock, source, channel, warnings, emitter };
}

function settled(channel: HttpEventChannel): Promise<boolean> {
  return waitFor(() => channel.stats().queued === 0, { what: 'all events to be settled', everyMs: 2 });
}

describe('createHttpEmitter', () => {
  it('connects to nobody and sets no timer before the first event', async () => {
    const exporter = await startExporter();
    const { clock } = open({ url: exporter.url });
    await clock.advance(60_000);
    expect(exporter.batches).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gathers ordinary events for a quarter of a second, and then rests without a timer', async () => {
    const exporter = await startExporter();
    const { clock, channel } = open({ url: exporter.url });
    channel.emit(pending(1));
    await clock.advance(100);
    channel.emit(pending(2));
    await clock.advance(149);
    expect(exporter.batches).toEqual([]);
    await clock.advance(1);
    await exporter.until(() => exporter.accepted.length === 2);
    await settled(channel);
    expect(exporter.batches).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('sends an urgent event without waiting, together with all that came before it or in its turn', async () => {
    const exporter = await startExporter();
    const { channel } = open({ url: exporter.url });
    channel.emit(pending(1));
    channel.emit(pending(2, true));
    channel.emit(pending(3));
    await exporter.until(() => exporter.accepted.length === 3);
    expect(exporter.batches).toHaveLength(1);
    expect(numbersOf(exporter.accepted)).toEqual([1, 2, 3]);
  });

  it('does not wait when a batch is full', async () => {
    const exporter = await startExporter();
    const { channel } = open({ url: exporter.url });
    for (const number of range(BATCH_EVENTS)) channel.emit(pending(number));
    await exporter.until(() => exporter.accepted.length === BATCH_EVENTS);
  });

  it('lets what does not fit into a full batch wait for company, as any other', async () => {
    const exporter = await startExporter();
    const { clock, channel } = open({ url: exporter.url });
    for (const number of range(BATCH_EVENTS + 1)) channel.emit(pending(number));
    await exporter.until(() => exporter.accepted.length === BATCH_EVENTS);
    await waitFor(() => channel.stats().queued === 1, { what: 'the answer' });
    expect(exporter.batches).toHaveLength(1);
    await clock.advance(250);
    await exporter.until(() => exporter.accepted.length === BATCH_EVENTS + 1);
  });

  it('sends what was emitted on an earlier connection in a batch that names that server', async () => {
    const exporter = await startExporter();
    const { channel, source } = open({ url: exporter.url });
    const turn = () => new Promise<void>((resolve) => process.nextTick(resolve));
    channel.emit(pending(1));
    await turn();
    source.current = { id: 'run2' };
    source.held = [hold(5)];
    channel.emit(pending(2, true));
    await exporter.until(() => exporter.accepted.length === 2);
    const told = exporter.batches.map(({ envelope }) => [
      envelope.serverId,
      numbersOf(envelope.events),
      envelope.holds?.length,
    ]);
    expect(told).toEqual([
      ['run1', [1], undefined],
      ['run2', [2], 1],
    ]);
  });

  it('then tells the rest at once: a new run of the exporter gets the set of holds without another event', async () => {
    const exporter = await startExporter();
    const { channel, source } = open({ url: exporter.url });
    const turn = () => new Promise<void>((resolve) => process.nextTick(resolve));
    channel.emit(pending(1, true));
    await turn();
    source.current = { id: 'run2' };
    await exporter.until(() => exporter.batches.length === 2);
    expect(exporter.batches.map(({ envelope }) => envelope.serverId)).toEqual(['run1', 'run2']);
    expect(exporter.batches[1]?.envelope.holds).toEqual([]);
  });

  it('says goodbye with the last batch only, however many there are', async () => {
    const exporter = await startExporter();
    const { channel, source } = open({ url: exporter.url });
    for (const number of range(BATCH_EVENTS + 1)) channel.emit(pending(number));
    await new Promise<void>((resolve) => process.nextTick(resolve));
    source.current = { id: 'run2' };
    channel.emit(pending(BATCH_EVENTS + 2));
    await channel.close();
    const closing = exporter.batches.map(({ envelope }) => envelope.closing === true);
    expect(closing.length).toBeGreaterThan(2);
    expect(closing).toEqual(closing.map((_, at) => at === closing.length - 1));
    expect(channel.stats().accepted).toBe(BATCH_EVENTS + 2);
  });

  it('balances its books at every moment, also within what it calls', async () => {
    const seen: ChannelStats[] = [];
    const look = () => seen.push(channel.stats());
    const { channel, source } = open({ url: 'http://127.0.0.1:1', queueLimit: 3, onWarning: look });
    const server = source.server.bind(source);
    source.server = () => {
      look();
      return server();
    };
    const emitting = () => {
      look();
      channel.emit(pending(99));
      return numberedEvent(0);
    };
    for (const number of range(10)) channel.emit(pending(number));
    channel.emit({ urgent: false, encode: emitting });
    await channel.close(0);
    channel.emit(pending(100));
    expect(seen.length).toBeGreaterThan(3);
    for (const stats of [...seen, channel.stats()]) expectBalanced(stats);
    expect(channel.stats().queued).toBe(0);
  });

  it('keeps the order over many batches', async () => {
    const exporter = await startExporter();
    const { channel } = open({ url: exporter.url });
    for (const number of range(BATCH_EVENTS * 5 + 7)) channel.emit(pending(number, number % 400 === 0));
    await channel.close();
    expect(numbersOf(exporter.accepted)).toEqual(range(BATCH_EVENTS * 5 + 7));
    expect(exporter.batches.map(({ envelope }) => envelope.seq)).toEqual(range(6));
    expect(exporter.faults).toEqual([]);
  });

  it('makes each channel a producer of its own', async () => {
    const exporter = await startExporter();
    const { channel, emitter } = open({ url: exporter.url, instance: 'pod-7' });
    const other = emitter.open(new TestSource());
    channel.emit(pending(1, true));
    other.emit(pending(2, true));
    await Promise.all([channel.close(), other.close()]);
    const producers = exporter.batches.map(({ envelope }) => envelope.producer);
    expect(new Set(producers).size).toBe(2);
    expect(exporter.batches[0]?.envelope).toMatchObject({ app: 'shop', instance: 'pod-7', store: 'main' });
  });

  it('talks through a unix socket', async () => {
    const folder = makeTempDir('emitter');
    cleanUps.push(() => folder.remove());
    const path = `${folder.path}/x.sock`;
    const exporter = await new TestExporter({ path }).start();
    cleanUps.push(() => exporter.stop());
    for (const options of [{ socketPath: path }, { url: `unix:${path}` }]) {
      const { channel } = open(options);
      channel.emit(pending(1, true));
      await channel.close();
      expect(channel.stats().accepted).toBe(1);
    }
  });

  it.each([
    [{ app: '' }, /app must be/],
    [{ app: 'x'.repeat(65) }, /app must be/],
    [{ instance: 'a\nb' }, /instance must be/],
    [{ queueLimit: 0 }, /queueLimit must be/],
    [{ queueLimit: Number.NaN }, /queueLimit must be/],
    [{ requestTimeoutMs: 0.5 }, /requestTimeoutMs must be/],
    [{ exitFlushMs: -1 }, /exitFlushMs must be/],
    [{ url: 'ftp://x' }, /url must be/],
  ])('refuses %j when it is made', (options, message) => {
    expect(() => createHttpEmitter({ app: 'shop', ...options })).toThrow(message);
  });
});

describe('what the exporter is told of holds', () => {
  it('begins with the full set, and is not told it again while nothing happens', async () => {
    const exporter = await startExporter();
    const { channel, source } = open({ url: exporter.url });
    source.held = [hold(1)];
    channel.emit(pending(1, true));
    await settled(channel);
    channel.emit(pending(2, true));
    await settled(channel);
    expect(exporter.batches.map(({ envelope }) => envelope.holds)).toEqual([[hold(1)], undefined]);
  });

  it('hears a heartbeat while something is held, and none when nothing is', async () => {
    const exporter = await startExporter();
    const { channel, source, clock } = open({ url: exporter.url });
    source.held = [hold(1)];
    channel.holdsChanged();
    for (const beats of [1, 2, 3]) {
      await clock.advance(1000);
      await exporter.until(() => exporter.batches.length === beats);
      await waitFor(() => clock.pendingTimers === 1, { what: 'the answer', everyMs: 2 });
    }
    expect(exporter.batches.map(({ envelope }) => envelope.events)).toEqual([[], [], []]);
    source.held = [];
    channel.holdsChanged();
    await clock.advance(10_000);
    expect(exporter.batches).toHaveLength(3);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes any batch for a heartbeat', async () => {
    const exporter = await startExporter();
    const { channel, source, clock } = open({ url: exporter.url });
    source.held = [hold(1)];
    channel.holdsChanged();
    await clock.advance(600);
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.batches.length === 1);
    await settled(channel);
    await clock.advance(999);
    expect(exporter.batches).toHaveLength(1);
    await clock.advance(1);
    await exporter.until(() => exporter.batches.length === 2);
  });

  it('is told the full set at once when its answer shows a new epoch, also when nothing is held', async () => {
    const exporter = await startExporter();
    const { channel, source } = open({ url: exporter.url });
    channel.emit(pending(1, true));
    await settled(channel);
    exporter.forget('epoch-2');
    source.held = [hold(5)];
    channel.emit(pending(2, true));
    await exporter.until(() => exporter.batches.length === 3);
    exporter.forget('epoch-3');
    source.held = [];
    channel.emit(pending(3, true));
    await exporter.until(() => exporter.batches.length === 5);
    expect(exporter.batches.map(({ envelope }) => envelope.holds)).toEqual([
      [],
      undefined,
      [hold(5)],
      undefined,
      [],
    ]);
  });

  it('gets a big set in parts, which no event overtakes', async () => {
    const exporter = await startExporter();
    const { channel, source } = open({ url: exporter.url });
    source.held = range(MAX_BATCH_HOLDS * 2 + 1).map((number) => hold(number));
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.batches.length === 1);
    channel.emit(pending(2, true));
    await settled(channel);
    const seen = exporter.batches.map(({ envelope }) => ({
      holds: envelope.holds?.length,
      more: envelope.holdsMore,
      events: numbersOf(envelope.events),
    }));
    expect(seen).toEqual([
      { holds: MAX_BATCH_HOLDS, more: true, events: [1] },
      { holds: MAX_BATCH_HOLDS, more: true, events: [] },
      { holds: 1, more: undefined, events: [] },
      { holds: undefined, more: undefined, events: [2] },
    ]);
  });

  it('loses no events to a set of holds that it refuses', async () => {
    const exporter = await startExporter();
    const { channel, source } = open({ url: exporter.url });
    exporter.misbehave = ({ holds, seq }) => {
      // Waiting when the refusal comes, so that it could travel with the next try to tell the holds.
      if (seq === 1) channel.emit(pending(2, true));
      return holds?.length ? { kind: 'answer', status: 400 } : undefined;
    };
    source.held = [hold(1)];
    for (const number of [1, 3, 4, 5]) {
      channel.emit(pending(number, true));
      await settled(channel);
    }
    expect(channel.stats()).toMatchObject({ accepted: 4, dropped: { refused: 1 } });
    expectBalanced(channel.stats());
  });

  it('does not stop sending events when the lock client cannot list its holds', async () => {
    const exporter = await startExporter();
    const { channel, source, warnings } = open({ url: exporter.url });
    source.holds = () => {
      throw new Error('bug');
    };
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.accepted.length === 1);
    expect(warnings).toHaveLength(1);
  });
});

describe('events that the exporter does not take', () => {
  it('counts rejected events one by one, and warns of each fault once', async () => {
    const exporter = await startExporter();
    const { channel, warnings } = open({ url: exporter.url });
    for (let round = 0; round < 3; round += 1) {
      for (const event of [pending(1), invalidEvent(), invalidEvent(), pending(2, true)]) channel.emit(event);
      await settled(channel);
    }
    expect(channel.stats()).toEqual({ emitted: 12, accepted: 6, rejected: 6, dropped: {}, queued: 0 });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/rejected an event \(lock: must be 16 lower-case hex digits\)/);
  });

  it('keeps balanced books when an answer counts what was never sent', async () => {
    const exporter = await startExporter();
    const issue = { index: 0, path: 'lock', message: 'wrong' };
    const rejected = [issue, issue, { ...issue, index: 7 }];
    const body = JSON.stringify({ epoch: 'e', accepted: 1e9, rejected, duplicate: false });
    exporter.misbehave = () => ({ kind: 'answer', status: 200, body });
    const { channel } = open({ url: exporter.url });
    channel.emit(pending(1));
    channel.emit(pending(2, true));
    await settled(channel);
    expect(channel.stats()).toEqual({ emitted: 2, accepted: 1, rejected: 1, dropped: {}, queued: 0 });
  });

  it('drops a refused batch, tells the drop at once with the full set of holds, and never uses its number again', async () => {
    const exporter = await startExporter();
    exporter.misbehave = ({ seq }) => (seq === 2 ? { kind: 'answer', status: 413 } : undefined);
    const { channel, warnings } = open({ url: exporter.url });
    channel.emit(pending(1, true));
    await settled(channel);
    channel.emit(pending(2));
    channel.emit(pending(3, true));
    await exporter.until(() => exporter.batches.at(-1)?.envelope.seq === 3);
    expect(exporter.batches.at(-1)?.envelope).toMatchObject({
      dropped: { refused: 2 },
      holds: [],
      events: [],
    });
    expect(channel.stats()).toMatchObject({ emitted: 3, accepted: 1, dropped: { refused: 2 } });
    expect(warnings).toEqual([expect.stringMatching(/refused a batch of 2 events.*answered 413/)]);
  });

  it('says goodbye with its last batch, so that an orderly end does not look like a death', async () => {
    const exporter = await startExporter();
    const { channel } = open({ url: exporter.url });
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.batches.length === 1);
    await channel.close();
    expect(exporter.batches.map(({ envelope }) => envelope.closing)).toEqual([undefined, true]);
    const { channel: silent } = open({ url: exporter.url });
    await silent.close();
    expect(exporter.batches).toHaveLength(2);
  });

  it('does not ask an exporter that refuses everything over and over, and still closes at once', async () => {
    const exporter = await startExporter();
    let asked = 0;
    exporter.misbehave = () => {
      asked += 1;
      return { kind: 'answer', status: 400 };
    };
    const { channel, clock } = open({ url: exporter.url });
    channel.emit(pending(1, true));
    // The events, then the drop that follows from their refusal.
    await exporter.until(() => asked === 2);
    await channel.close();
    await clock.settle();
    // And the goodbye, once.
    expect(asked).toBe(3);
    expect(channel.stats()).toMatchObject({ emitted: 1, dropped: { refused: 1 }, queued: 0 });
  });

  it('takes up a rotated token without losing an event, and shows no token', async () => {
    const exporter = await startExporter();
    let token = 'old-secret\n';
    const seen: unknown[] = [];
    const { channel, clock, warnings } = open({ url: exporter.url, token: () => token });
    exporter.misbehave = () => {
      if (token === 'new-secret') return undefined;
      const error = { id: 'unauthorized', message: `no such token: ${token.trim()}` };
      return { kind: 'answer', status: 401, body: JSON.stringify({ error }) };
    };
    channel.emit(pending(1, true));
    await waitFor(() => warnings.length === 1, { what: 'the refusal', everyMs: 2 });
    token = 'new-secret';
    await clock.advance(CONFIGURATION_BACKOFF.floorMs);
    await exporter.until(() => exporter.accepted.length === 1);
    seen.push(...exporter.batches.map(({ headers }) => headers.authorization));
    expect(seen).toEqual(['Bearer new-secret']);
    expect(warnings.join()).toContain('answered 401 (unauthorized: no such token: [token])');
    expect(warnings.join()).not.toContain('secret');
  });

  it.each([
    [
      'fails',
      () => {
        throw new Error('cannot read /run/hunter2');
      },
    ],
    ['holds a line break', () => 'hunter2\nx'],
  ])('survives a token that %s, and does not show it', async (_, token) => {
    const exporter = await startExporter();
    const { channel, warnings } = open({ url: exporter.url, token });
    channel.emit(pending(1, true));
    await waitFor(() => warnings.length === 1, { what: 'the warning', everyMs: 2 });
    expect(warnings[0]).toMatch(/token|authorization/);
    expect(warnings[0]).not.toMatch(/hunter2/);
    expect(channel.stats().queued).toBe(1);
  });
});

describe('closing', () => {
  it('delivers what is left', async () => {
    const exporter = await startExporter();
    const { channel } = open({ url: exporter.url });
    for (const number of range(1234)) channel.emit(pending(number));
    await channel.close();
    expect(channel.stats()).toMatchObject({ accepted: 1234, queued: 0, dropped: {} });
    expect(exporter.accepted).toHaveLength(1234);
  });

  it('ends in time when the exporter is silent, counts what is left, and takes nothing more', async () => {
    const exporter = await startExporter();
    exporter.misbehave = () => ({ kind: 'silence' });
    const { channel, clock } = open({ url: exporter.url });
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.batches.length === 1);
    channel.emit(pending(2));
    const closed = channel.close(700);
    expect(channel.close(1)).toBe(closed);
    await clock.advance(700);
    await closed;
    channel.emit(pending(3, true));
    channel.holdsChanged();
    expect(channel.stats()).toEqual({
      emitted: 3,
      accepted: 0,
      rejected: 0,
      dropped: { shutdown: 3 },
      queued: 0,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not wait for the end of a pause between attempts', async () => {
    const exporter = await startExporter();
    exporter.misbehave = ({ seq }) => (seq === 1 ? { kind: 'answer', status: 503 } : undefined);
    const { channel, clock, warnings } = open({ url: exporter.url });
    channel.emit(pending(1, true));
    await waitFor(() => warnings.length === 1, { what: 'the first failure', everyMs: 2 });
    exporter.misbehave = () => undefined;
    await channel.close();
    expect(channel.stats()).toMatchObject({ accepted: 1, dropped: {} });
    expect(clock.monoMs()).toBe(new FakeClock().monoMs());
  });

  it('leaves no listener on the process', async () => {
    const before = process.listenerCount('beforeExit');
    const { channel, emitter } = open();
    const other = emitter.open(new TestSource());
    expect(process.listenerCount('beforeExit')).toBe(before + 1);
    await channel.close();
    await other.close();
    expect(process.listenerCount('beforeExit')).toBe(before);
  });

  it('survives a listener to warnings that throws', async () => {
    const exporter = await startExporter();
    exporter.misbehave = () => ({ kind: 'answer', status: 500 });
    let told = 0;
    const onWarning = () => {
      told += 1;
      throw new Error('bug');
    };
    const { channel, clock } = open({ url: exporter.url, onWarning });
    channel.emit(pending(1, true));
    await waitFor(() => told === 1, { what: 'the warning', everyMs: 2 });
    exporter.misbehave = () => undefined;
    await clock.advance(TRANSIENT_BACKOFF.baseMs);
    await exporter.until(() => exporter.accepted.length === 1);
  });
});
