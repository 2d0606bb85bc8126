import { connect, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { systemClock } from '../../../../contract/clock.js';
import type { ListenAddress } from '../../../../contract/listen-address.js';
import { type Listener, listen } from '../../../../exporter/http/listen.js';
import { createLocalApp, type LocalAppOptions } from '../../../../exporter/http/local-app.js';
import { createMetricsApp, type MetricsAppOptions } from '../../../../exporter/http/metrics-app.js';
import { within } from '../../../support/wait-for.js';

/** An app that really listens, with what it counted and reported. */
export interface Served {
  listener: Listener;
  /** `http://host:port` */
  url: string;
  port: number;
  results: string[];
  /** Refusals beside those of batches. */
  refusals: string[];
  faults: unknown[];
  /** What `receiveBatch` was handed. */
  bodies: unknown[];
}

export const ANSWER = { epoch: 'e', accepted: 0, rejected: [], duplicate: false };
const LOOPBACK: ListenAddress = { kind: 'tcp', host: '127.0.0.1', port: 0 };

type Kept = Pick<Served, 'results' | 'refusals' | 'faults' | 'bodies'>;

function nothingKept(): Kept {
  return { results: [], refusals: [], faults: [], bodies: [] };
}

const opened: Listener[] = [];
const sockets: Socket[] = [];

/** Closes what a test has opened; to be called at the top of a test file. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(opened.splice(0).map((listener) => listener.close(0)));
  });
}

/** The local app on a free port of 127.0.0.1, or elsewhere. */
export function serveLocal(change: Partial<LocalAppOptions> = {}, address = LOOPBACK): Promise<Served> {
  const kept = nothingKept();
  const app = createLocalApp({
    clock: systemClock(),
    receiveBatch: (body) => {
      kept.bodies.push(body);
      return { status: 200, answer: ANSWER };
    },
    status: () => ({ store: 'orders' }),
    locks: (query) => ({ query }),
    findings: () => ({ findings: [] }),
    timeline: (lock) => ({ lock }),
    timelineOfKey: (key) => ({ key: key.toString('latin1') }),
    hot: (limit) => ({ limit }),
    counters: { batch: (result) => kept.results.push(result) },
    isClosing: () => false,
    reportFault: (error) => kept.faults.push(error),
    countRefusal: (id) => kept.refusals.push(id),
    ...change,
  });
  return serve(app, address, kept);
}

/** The metrics app on a free port of 127.0.0.1. */
export function serveMetrics(change: Partial<MetricsAppOptions> = {}): Promise<Served> {
  const kept = nothingKept();
  const app = createMetricsApp({
    clock: systemClock(),
    renderMetrics: () => pieces('# TYPE a gauge\n', 'a 1\n'),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    isReady: () => true,
    reportFault: (error) => kept.faults.push(error),
    countRefusal: (id) => kept.refusals.push(id),
    ...change,
  });
  return serve(app, LOOPBACK, kept);
}

async function serve(app: Parameters<typeof listen>[0], address: ListenAddress, kept: Kept): Promise<Served> {
  const listener = await listen(app, address, {
    clock: systemClock(),
    reportFault: (error) => kept.faults.push(error),
    countRefusal: (reason) => kept.refusals.push(reason),
  });
  opened.push(listener);
  const url = address.kind === 'unix' ? 'http://localhost' : `http://${listener.address}`;
  return { listener, url, port: Number(new URL(url).port), ...kept };
}

/** A listener that a test made itself, to be closed with the others. */
export function closeLater(listener: Listener): Listener {
  opened.push(listener);
  return listener;
}

/** A page of these pieces. */
export async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

/** A plain connection, and all that came back on it until it was closed. */
export interface RawConnection {
  socket: Socket;
  closed: Promise<string>;
}

/** Connects without any HTTP client in between. */
export function openRaw(port: number): RawConnection {
  const socket = connect({ port, host: '127.0.0.1' });
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  return { socket, closed: within(closed, 10_000, 'the end of a connection') };
}
