import http from 'node:http';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ExporterProcess, startExporterProcess } from '../support/exporter-process.js';
import { freePort } from '../support/free-port.js';
import { type NodeChild, spawnNode } from '../support/holder-process.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

const HOLDER = fileURLToPath(new URL('../support/holder-main.mjs', import.meta.url));
const CYCLES = 200_000;
const ROUNDS = 10;
const LANES = 64;
/** Runs of a silent client beside those with a dead exporter: enough for a median. */
const SILENT_CYCLES = CYCLES / 4;
/** Queue, bodies and the garbage between two collections, with room to spare. Unbounded, the events are 140 MB. */
const MAX_GROWTH_BYTES = 80e6;

interface Stats {
  emitted: number;
  accepted: number;
  rejected: number;
  queued: number;
  dropped: Record<string, number>;
}

/** Ways of an exporter to be no help. Each gives a function that ends it. */
const FAULTS: Record<string, (port: number) => Promise<() => Promise<void>>> = {
  'is not there': () => Promise.resolve(() => Promise.resolve()),
  'accepts and never answers': async (port) => {
    const sockets = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket.on('error', () => {}).resume());
    });
    await listen(server, port);
    return () => {
      for (const socket of sockets) socket.destroy();
      return closed(server);
    };
  },
  'answers 500': async (port) => {
    const server = http.createServer((request, response) => {
      request.resume().once('end', () => response.writeHead(500).end());
    });
    await listen(server, port);
    return () => {
      server.closeAllConnections();
      return closed(server);
    };
  },
};

// A16 (micrometer-metrics/micrometer#1172, bmuller/telemetry_metrics_cloudwatch#18)
describe('an exporter that is no help does not hurt the locks (A16): one that', () => {
  let redis: RedisServer;
  let exporter: ExporterProcess | undefined;
  let children: NodeChild[] = [];
  const undo: (() => Promise<void>)[] = [];

  const holder = async (port?: number) => {
    const env = {
      HOLDER_REDIS_URL: redis.url,
      ...(port !== undefined && {
        HOLDER_INGEST_URL: `http://127.0.0.1:${port}`,
        HOLDER_REQUEST_TIMEOUT_MS: '500',
      }),
    };
    const child = await spawnNode(HOLDER, { env });
    children.push(child);
    await child.next('ready');
    return child;
  };
  const rush = async (child: NodeChild, count: number) => {
    const command = { op: 'rush', key: 'lock:rush:', lanes: LANES, leaseMs: 30_000, count };
    const { tookMs, rssBytes } = await child.ask(command, 60_000);
    return { usPerLock: (Number(tookMs) * 1000) / count, rssBytes: Number(rssBytes) };
  };

  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    await Promise.all(children.map((child) => child.process.kill('SIGKILL')));
    children = [];
    for (const end of undo.splice(0)) await end();
    await exporter?.process.stop();
    exporter = undefined;
    await redis.stop();
  });

  it.each(Object.entries(FAULTS))(
    '%s',
    async (_, begin) => {
      const port = await freePort();
      const end = await begin(port);
      undo.push(end);
      const [told, silent, brief] = [await holder(port), await holder(), await holder(port)];
      await rush(told, 1000);
      await rush(silent, 1000);

      const [withFault, without]: [number[], number[]] = [[], []];
      const sizes: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const { usPerLock, rssBytes } = await rush(told, CYCLES / ROUNDS);
        withFault.push(usPerLock);
        sizes.push(rssBytes);
        without.push((await rush(silent, SILENT_CYCLES / ROUNDS)).usPerLock);
      }
      // Encoding costs a part of a lock; waiting for an exporter would cost many times a lock.
      expect(median(withFault) / median(without)).toBeLessThan(3);
      const grown = (sizes.at(-1) ?? Number.NaN) - Math.min(...sizes.slice(0, 3));
      expect(grown).toBeLessThan(MAX_GROWTH_BYTES);

      // With nothing left to do but to deliver, a process ends.
      await rush(brief, 500);
      await brief.ask({ op: 'disconnect' });
      brief.send({ id: 0, op: 'leave' });
      await waitFor(() => !brief.process.running, {
        what: 'the process to end by itself',
        timeoutMs: 10_000,
      });
      expect(await brief.process.exited).toEqual({ code: 0, signal: null });

      undo.pop();
      await end();
      const local = `127.0.0.1:${port}`;
      const flags = ['--redis-url', redis.url, '--metrics-listen', '127.0.0.1:0', '--local-listen', local];
      exporter = await startExporterProcess(flags);
      const stats = await waitFor(
        async () => {
          const now = (await told.ask({ op: 'stats' })) as unknown as Stats;
          return now.queued === 0 ? now : undefined;
        },
        { what: 'the client to deliver what it kept', timeoutMs: 60_000, everyMs: 100 },
      );
      expect(stats.emitted).toBe(2 * (CYCLES + 1000));
      expect(stats.rejected).toBe(0);
      const { queue_full: dropped = 0, ...others } = stats.dropped;
      expect(others).toEqual({});
      expect(dropped).toBeGreaterThan(CYCLES);
      expect(stats.accepted + dropped).toBe(stats.emitted);
      const counted = () =>
        exporter?.value('redis_lock_exporter_producer_dropped_total', { reason: 'queue_full' });
      await waitFor(async () => (await counted()) === dropped, { what: 'the exporter to count the drops' });
      // A rejection that nobody handles, or a warning of Node's own, would be written there.
      const complaints = told.process.stderr.lines.filter(
        (line) => !/RedisLockWarning|--trace-warnings/.test(line),
      );
      expect(complaints).toEqual([]);
    },
    180_000,
  );
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function listen(server: net.Server, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
}

function closed(server: net.Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
