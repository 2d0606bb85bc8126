import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TRANSIENT_BACKOFF } from '../../../../client/emitter/backoff.js';
import { BATCH_EVENTS } from '../../../../client/emitter/batch-encoder.js';
import { createHttpEmitter, type HttpEmitterOptions } from '../../../../client/emitter/http-emitter.js';
import { systemClock } from '../../../../contract/clock.js';
import { FakeClock, seededRandom } from '../../../support/clocks.js';
import { freePort } from '../../../support/free-port.js';
import { startTcpProxy } from '../../../support/tcp-proxy.js';
import { waitFor } from '../../../support/wait-for.js';
import { expectBalanced, numbersOf, pending, range, TestSource } from './test-events.js';
import { TestExporter } from './test-exporter.js';

const REQUEST_TIMEOUT_MS = 5000;
const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startExporter(host = '127.0.0.1'): Promise<TestExporter> {
  const exporter = await new TestExporter({ host }).start();
  cleanUps.push(() => exporter.stop());
  return exporter;
}

function open(url: string, options: Partial<HttpEmitterOptions> = {}) {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  const emitter = createHttpEmitter({ app: 'shop', url, clock, random: () => 0.5, onWarning, ...options });
  const channel = emitter.open(new TestSource());
  cleanUps.push(() => channel.close(0));
  return { clock, channel, warnings };
}

async function openThroughProxy() {
  const exporter = await startExporter();
  const proxy = await startTcpProxy({ target: { port: exporter.port }, framing: 'raw' });
  cleanUps.push(() => proxy.stop());
  return { exporter, proxy, ...open(`http://127.0.0.1:${proxy.port}`) };
}

/** Whether this machine can listen on ::1. */
async function hasIpv6(): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(0, '::1', () => server.close(() => resolve(true)));
  });
}

const ipv6 = await hasIpv6();

describe('a lost answer', () => {
  it('leads to the same bytes under the same number, which the exporter counts once', async () => {
    const { exporter, proxy, channel, clock } = await openThroughProxy();
    const lost = proxy.dropNextReply();
    channel.emit(pending(1, true));
    await lost;
    channel.emit(pending(2, true));
    await clock.advance(REQUEST_TIMEOUT_MS + TRANSIENT_BACKOFF.baseMs);
    await exporter.until(() => exporter.accepted.length === 2);
    expect(numbersOf(exporter.accepted)).toEqual([1, 2]);
    expect(exporter.batches.map(({ envelope, duplicate }) => [envelope.seq, duplicate])).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ]);
    expect(exporter.batches[0]?.raw).toBe(exporter.batches[1]?.raw);
    expect(exporter.faults).toEqual([]);
  });

  it('costs nothing and counts nothing twice, however often and in whatever way it is lost', async () => {
    const { exporter, proxy, channel, clock } = await openThroughProxy();
    const random = seededRandom(7);
    const events = 60;
    for (const number of range(events)) {
      const fate = Math.floor(random() * 4);
      if (fate === 0) void proxy.dropNextReply();
      if (fate === 1) void proxy.cutAtNextReply();
      if (fate === 2) void proxy.cutAfterRequest();
      channel.emit(pending(number, true));
      await waitFor(
        async () => {
          await clock.advance(500);
          return channel.stats().queued === 0;
        },
        { what: `event ${number} to be settled`, everyMs: 1 },
      );
      expectBalanced(channel.stats());
    }
    expect(numbersOf(exporter.accepted)).toEqual(range(events));
    expect(exporter.faults).toEqual([]);
    expect(exporter.batches.filter(({ duplicate }) => duplicate).length).toBeGreaterThan(10);
    expect(channel.stats()).toMatchObject({ emitted: events, accepted: events, rejected: 0, dropped: {} });
  });

  it('counts once what was answered "duplicate", with the first answer’s counts', async () => {
    const { exporter, proxy, channel, clock } = await openThroughProxy();
    const lost = proxy.dropNextReply();
    channel.emit({ urgent: false, encode: () => ({ ...pending(1).encode(), lock: 'nonsense' }) });
    channel.emit(pending(2, true));
    await lost;
    await clock.advance(REQUEST_TIMEOUT_MS + TRANSIENT_BACKOFF.baseMs);
    await exporter.until(() => exporter.batches.length === 2);
    await waitFor(() => channel.stats().queued === 0, { what: 'the answer', everyMs: 2 });
    expect(channel.stats()).toMatchObject({ accepted: 1, rejected: 1 });
  });
});

describe('the keep-alive race', () => {
  it('is settled at once with the same number when the server closes as the next batch is on its way', async () => {
    const { exporter, proxy, channel, clock, warnings } = await openThroughProxy();
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.accepted.length === 1);
    const cut = proxy.cutAfterRequest();
    channel.emit(pending(2, true));
    await cut;
    await exporter.until(() => exporter.batches.length === 3);
    await waitFor(() => channel.stats().queued === 0, { what: 'the answer', everyMs: 2 });
    expect(exporter.batches.map(({ envelope }) => envelope.seq)).toEqual([1, 2, 2]);
    expect(warnings).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    expect(channel.stats().accepted).toBe(2);
  });

  it('loses nothing when idle connections are closed in the very turn of the next event', async () => {
    const exporter = await startExporter();
    const { channel } = open(exporter.url, { clock: systemClock() });
    for (const number of range(200)) {
      const close = () => exporter.closeIdleConnections();
      if (number % 3 === 0) close();
      channel.emit(pending(number, true));
      if (number % 3 === 1) close();
      if (number % 3 === 2) setImmediate(close);
      await waitFor(() => channel.stats().queued === 0, { what: `event ${number}`, everyMs: 0 });
    }
    expect(numbersOf(exporter.accepted)).toEqual(range(200));
    expect(channel.stats()).toMatchObject({ accepted: 200, dropped: {} });
    expect(exporter.faults).toEqual([]);
  });

  it('loses nothing when the exporter is restarted between events', async () => {
    const exporter = await startExporter();
    const { channel, clock } = open(exporter.url);
    for (const number of range(10)) {
      channel.emit(pending(number, true));
      await waitFor(
        async () => {
          await clock.advance(100);
          return channel.stats().queued === 0;
        },
        { what: `event ${number}`, everyMs: 1 },
      );
      await exporter.restart(`epoch-${number + 1}`);
    }
    expect(numbersOf(exporter.accepted)).toEqual(range(10));
    expect(channel.stats()).toMatchObject({ accepted: 10, dropped: {} });
  });
});

describe('an answer that is none', () => {
  it('does not spin on an endless answer over a kept-alive connection', async () => {
    const exporter = await startExporter();
    const { channel, clock, warnings } = open(exporter.url);
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.accepted.length === 1);
    let asked = 0;
    exporter.misbehave = () => {
      asked += 1;
      return { kind: 'answer', status: 200, body: 'x'.repeat(2_000_000) };
    };
    channel.emit(pending(2, true));
    await waitFor(() => warnings.length === 1, { what: 'the warning', everyMs: 2 });
    await clock.settle();
    expect(warnings[0]).toMatch(/takes no events now \(an answer of more than 1048576 bytes\)/);
    expect(asked).toBe(1);
    exporter.misbehave = () => undefined;
    await clock.advance(TRANSIENT_BACKOFF.baseMs);
    await exporter.until(() => exporter.accepted.length === 2);
  });

  it('tries again later when the answer breaks off in the middle', async () => {
    const exporter = await startExporter();
    exporter.misbehave = () => ({ kind: 'torso' });
    const { channel, clock, warnings } = open(exporter.url);
    channel.emit(pending(1, true));
    await waitFor(() => warnings.length === 1, { what: 'the warning', everyMs: 2 });
    expect(warnings[0]).toMatch(/the answer was cut off/);
    exporter.misbehave = () => undefined;
    await clock.advance(TRANSIENT_BACKOFF.baseMs);
    await exporter.until(() => exporter.batches.length === 2);
    expect(exporter.batches[1]?.duplicate).toBe(true);
    expect(exporter.accepted).toHaveLength(1);
  });
});

describe('where the exporter is', () => {
  it.each(['localhost', '127.0.0.1'])('finds an exporter on 127.0.0.1 as %s', async (host) => {
    const exporter = await startExporter();
    const { channel } = open(`http://${host}:${exporter.port}`);
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.accepted.length === 1);
    expect(exporter.batches[0]?.headers.host).toBe(`${host}:${exporter.port}`);
  });

  it.skipIf(!ipv6)('finds an exporter on ::1 as [::1]', async () => {
    const exporter = await startExporter('::1');
    const { channel } = open(`http://[::1]:${exporter.port}`);
    channel.emit(pending(1, true));
    await exporter.until(() => exporter.accepted.length === 1);
    expect(exporter.batches[0]?.headers.host).toBe(`[::1]:${exporter.port}`);
  });

  it.each([
    ['localhost', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
  ])('names the address that it tried for %s', async (host, address) => {
    const port = await freePort();
    const { channel, warnings } = open(`http://${host}:${port}`);
    channel.emit(pending(1, true));
    await waitFor(() => warnings.length === 1, { what: 'the warning', everyMs: 2 });
    expect(warnings[0]).toContain(`http://${host}:${port}`);
    expect(warnings[0]).toContain(`${address}:${port}`);
  });

  it('names a socket that is not there', async () => {
    const { channel, warnings } = open('unix:/nonexistent/exporter.sock');
    channel.emit(pending(1, true));
    await waitFor(() => warnings.length === 1, { what: 'the warning', everyMs: 2 });
    expect(warnings[0]).toContain('ENOENT /nonexistent/exporter.sock');
  });
});

/** Emits as a busy application does, giving the event loop its turns. */
async function emitMany(channel: ReturnType<typeof open>['channel'], clock: FakeClock, count: number) {
  const chunk = 2000;
  for (let from = 1; from <= count; from += chunk) {
    for (const number of range(chunk, from)) channel.emit(pending(number, number % 1000 === 0));
    await clock.advance(100);
  }
}

describe('a sink that is down for 200,000 events', () => {
  const EVENTS = 200_000;
  const LIMIT = 10_000;

  it.each(['refuses connections', 'accepts and is silent', 'answers 500'])(
    'when it %s: memory stays bounded, every drop is counted and told on recovery',
    async (mode) => {
      const exporter = await startExporter();
      const url = exporter.url;
      if (mode === 'refuses connections') await exporter.stop();
      if (mode === 'accepts and is silent') exporter.misbehave = () => ({ kind: 'silence' });
      if (mode === 'answers 500') exporter.misbehave = () => ({ kind: 'answer', status: 500 });
      const { channel, clock, warnings } = open(url);
      await emitMany(channel, clock, EVENTS);
      const down = channel.stats();
      expectBalanced(down);
      expect(down.emitted).toBe(EVENTS);
      expect(down.queued).toBeLessThanOrEqual(LIMIT + BATCH_EVENTS);
      expect(warnings.filter((text) => text.includes('the queue of 10000 is full'))).toHaveLength(1);
      expect(warnings.length).toBeLessThanOrEqual(4);

      exporter.misbehave = () => undefined;
      if (mode === 'refuses connections') await exporter.start();
      await waitFor(
        async () => {
          await clock.advance(1000);
          return channel.stats().queued === 0;
        },
        { what: 'the queue to be delivered', timeoutMs: 20_000, everyMs: 1 },
      );
      const { accepted, dropped } = channel.stats();
      expectBalanced(channel.stats());
      expect(exporter.accepted).toHaveLength(accepted);
      expect(exporter.batches.at(-1)?.envelope.dropped).toEqual(dropped);
      expect(accepted + (dropped.queue_full ?? 0)).toBe(EVENTS);
      const urgent = numbersOf(exporter.accepted).filter((number) => number % 1000 === 0);
      expect(urgent).toEqual(range(EVENTS / 1000).map((step) => step * 1000));
      expect(exporter.faults).toEqual([]);
    },
  );
});
