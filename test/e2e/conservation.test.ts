import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { freePort } from '../support/free-port.js';
import { type NodeChild, spawnNode } from '../support/holder-process.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';

// DESIGN 7: received = accepted + rejected + duplicate, and emitted = accepted + rejected + dropped + queued, between
// real clients, a network that breaks, and the built exporter.

const HOLDER = fileURLToPath(new URL('../support/holder-main.mjs', import.meta.url));

interface Stats {
  emitted: number;
  accepted: number;
  rejected: number;
  queued: number;
  dropped: Record<string, number>;
}

interface Bench {
  redis: RedisServer;
  exporter: ExporterProcess;
  proxy: TcpProxy;
  /** Starts the exporter again, at the same place. */
  restart(): Promise<void>;
  /** Whole requests that came to the proxy, with (producer, seq) and the number of events. */
  posts: Post[];
}

interface Post {
  bytes: Buffer;
  name: string;
  events: number;
}

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function startBench(): Promise<Bench> {
  const redis = await startRedis();
  undo.push(() => redis.stop());
  const port = await freePort();
  const start = () =>
    startExporterProcess([
      '--sample-mode',
      'off',
      '--first-increment-hold',
      '0s',
      '--local-listen',
      `127.0.0.1:${port}`,
    ]);
  const proxy = await startTcpProxy({ target: { port }, framing: 'raw' });
  undo.push(() => proxy.stop());
  const bench: Bench = { redis, exporter: await start(), proxy, posts: [], restart: async () => {} };
  bench.restart = async () => {
    bench.exporter = await start();
  };
  undo.push(() => bench.exporter.process.kill('SIGKILL'));
  void proxy.request({
    matches: ([chunk]) => {
      const post = chunk && readPost(chunk);
      if (post) bench.posts.push(post);
      return false;
    },
  });
  return bench;
}

/** A request that came in one piece. */
function readPost(bytes: Buffer): Post | undefined {
  const text = bytes.toString();
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  if (!text.startsWith('POST ') || Number(length) !== Buffer.byteLength(body)) return undefined;
  const { producer, seq, events } = JSON.parse(body);
  return { bytes, name: `${producer} ${seq}`, events: events.length };
}

async function holder({ redis, proxy }: Bench): Promise<NodeChild> {
  const child = await spawnNode(HOLDER, {
    env: {
      HOLDER_REDIS_URL: redis.url,
      HOLDER_INGEST_URL: `http://127.0.0.1:${proxy.port}`,
      HOLDER_REQUEST_TIMEOUT_MS: '500',
    },
  });
  undo.push(() => child.process.kill('SIGKILL'));
  await child.next('ready');
  return child;
}

const cycles = (child: NodeChild, key: string, count: number) =>
  child.ask({ op: 'cycles', key: `lock:${key}:`, count, leaseMs: 5000, pauseMs: 5 }, 30_000);

/** The books of a client once all it emitted was dealt with. */
function settled(child: NodeChild): Promise<Stats> {
  return waitFor(
    async () => {
      const stats = (await child.ask({ op: 'stats' })) as unknown as Stats;
      return stats.queued === 0 ? stats : undefined;
    },
    { what: 'the last resend to be answered', timeoutMs: 20_000 },
  );
}

/** Sends the very bytes of a request again, on a connection of its own, and waits for the answer. */
function replay(post: Post, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', reject);
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
    socket.write(post.bytes);
  });
}

async function exporterBooks(exporter: ExporterProcess) {
  const value = async (name: string) => (await exporter.value(`redis_lock_exporter_${name}`)) ?? Number.NaN;
  return {
    received: await value('events_received_total'),
    accepted: await value('events_total'),
    rejected: await value('events_rejected_total'),
    duplicate: await value('events_duplicate_total'),
    dropped: await value('producer_dropped_total'),
    gaps: await value('seq_gaps_total'),
  };
}

function expectClientLaw(stats: Stats): void {
  const dropped = Object.values(stats.dropped).reduce((sum, count) => sum + count, 0);
  expect(stats.accepted + stats.rejected + dropped + stats.queued).toBe(stats.emitted);
}

it('delayed, cut, resent, doubled and reordered batches: each event counts once, for each producer and in total', async () => {
  const bench = await startBench();
  const { proxy, exporter } = bench;
  const children = await Promise.all([holder(bench), holder(bench), holder(bench)]);
  const work = children.map((child, index) => cycles(child, `r${index}`, 120));
  proxy.delayReplies(30);
  await proxy.cutAfterRequest({ nth: 2 });
  await proxy.cutAtNextReply();
  await proxy.dropNextReply();
  proxy.delayRequests(40);
  await proxy.request({ nth: 3 });
  proxy.holdRequests();
  await proxy.request({ nth: 2 });
  proxy.releaseRequests();
  proxy.cutAll();
  proxy.delayRequests(0);
  proxy.delayReplies(0);
  await Promise.all(work);
  const books = await Promise.all(children.map(settled));
  // Every request once more, the last one first.
  for (const post of bench.posts.toReversed()) await replay(post, proxy.port);

  for (const stats of books) {
    expectClientLaw(stats);
    expect(stats).toMatchObject({ emitted: 240, accepted: 240, rejected: 0, dropped: {} });
  }
  const told = await exporterBooks(exporter);
  expect(told).toMatchObject({ accepted: 720, rejected: 0, dropped: 0, gaps: 0 });
  expect(told.duplicate).toBeGreaterThan(720);
  expect(told.received).toBe(told.accepted + told.rejected + told.duplicate);
  const released = await Promise.all(
    [0, 1, 2].map((index) => exporter.value('redis_lock_release_total', { resource: `r${index}` })),
  );
  expect(released).toEqual([120, 120, 120]);
});

it('a client killed with -9: what it had sent counts once, however late and in whatever order it arrives', async () => {
  const bench = await startBench();
  const { proxy } = bench;
  const [lost, other] = await Promise.all([holder(bench), holder(bench)]);
  await cycles(lost, 'lost', 20);
  await settled(lost);
  proxy.holdRequests();
  const onTheirWay = proxy.request();
  await cycles(lost, 'lost', 30);
  await onTheirWay;
  await lost.process.kill('SIGKILL');
  proxy.cutAll();
  proxy.releaseRequests();
  await cycles(other, 'other', 40);
  const stats = await settled(other);
  for (const post of bench.posts.toReversed()) await replay(post, proxy.port);

  expectClientLaw(stats);
  const sent = new Map(bench.posts.map(({ name, events }) => [name, events]));
  const events = [...sent.values()].reduce((sum, count) => sum + count, 0);
  const told = await exporterBooks(bench.exporter);
  expect(told.accepted).toBe(events);
  expect(told.received).toBe(told.accepted + told.rejected + told.duplicate);
  expect(told.gaps).toBe(0);
  expect(stats.accepted).toBe(80);
});

it('an exporter killed with -9 and started again: no event is lost by its clients, and both sums hold in the new run', async () => {
  const bench = await startBench();
  const { proxy } = bench;
  const children = await Promise.all([holder(bench), holder(bench)]);
  const before = children.map((child, index) => cycles(child, `a${index}`, 60));
  await proxy.request({ nth: 4 });
  await bench.exporter.process.kill('SIGKILL');
  const during = children.map((child, index) => cycles(child, `b${index}`, 30));
  await Promise.all([...before, ...during]);
  await bench.restart();
  await Promise.all(children.map((child, index) => cycles(child, `c${index}`, 10)));
  const books = await Promise.all(children.map(settled));

  for (const stats of books) {
    expectClientLaw(stats);
    expect(stats).toMatchObject({ emitted: 200, accepted: 200, dropped: {} });
  }
  const told = await exporterBooks(bench.exporter);
  expect(told.received).toBe(told.accepted + told.rejected + told.duplicate);
  expect(told.accepted).toBeGreaterThanOrEqual(160);
  expect(told.gaps).toBe(0);
});

it('an exporter that stands still (C11): clients resend, nothing is counted twice, and no client falls over', async () => {
  // nodejs/node#20256, agentkeepalive#23: a connection that dies in the moment of its next use.
  const bench = await startBench();
  const children = await Promise.all([holder(bench), holder(bench)]);
  const work = children.map((child, index) => cycles(child, `s${index}`, 100));
  await bench.proxy.request({ nth: 2 });
  await bench.exporter.process.pause();
  await bench.proxy.request({ nth: 3 });
  await bench.exporter.process.resume();
  await Promise.all(work);
  for (const stats of await Promise.all(children.map(settled))) {
    expectClientLaw(stats);
    expect(stats).toMatchObject({ emitted: 200, accepted: 200 });
  }
  const told = await exporterBooks(bench.exporter);
  expect(told).toMatchObject({ accepted: 400, rejected: 0, gaps: 0 });
  expect(told.received).toBe(told.accepted + told.duplicate);
});
