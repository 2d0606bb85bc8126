import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, type Envelope, EVENTS_PATH, envelopeSchema } from '../../../../contract/batch.js';
import { eventSchema, type LockEvent } from '../../../../contract/event.js';

/** Where a test exporter listens. */
export type ListenAt = { host?: string; port?: number } | { path: string };

/** What a test may put in place of the ordinary answer to one request. */
export type Misbehaviour =
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body?: string }
  /** The batch is taken, the answer breaks off in the middle. */
  | { kind: 'torso' }
  /** The batch is taken, the answer never comes. */
  | { kind: 'silence' }
  /** The batch is taken, and the connection is cut in place of the answer. */
  | { kind: 'cut' };

/** A batch as it came in, resends included. */
export interface ReceivedBatch {
  envelope: Envelope;
  raw: string;
  headers: IncomingMessage['headers'];
  duplicate: boolean;
}

/** Speaks the contract as the exporter does, checks each batch against it, and keeps all of it. */
export class TestExporter {
  epoch = 'epoch-1';
  /** Every request that carried a readable batch, in order of arrival. */
  batches: ReceivedBatch[] = [];
  /** Events taken, each once, in order. */
  accepted: LockEvent[] = [];
  rejectedCount = 0;
  /** Faults of the client: unreadable batches, resends with other bytes, gaps. */
  faults: string[] = [];
  /** Asked for each request; undefined is the ordinary answer. */
  misbehave: (batch: Envelope) => Misbehaviour | undefined = () => undefined;
  readonly #seen = new Map<string, { raw: string; answer: Answer }>();
  readonly #arrivals = new EventEmitter();
  #server: Server | undefined;
  #at: ListenAt;

  constructor(at: ListenAt = {}) {
    this.#at = at;
  }

  get port(): number {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    return address?.port ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens; after a stop, at the same place. */
  async start(keepAliveTimeoutMs?: number): Promise<this> {
    const server = createServer((request, response) => void this.#serve(request, response));
    if (keepAliveTimeoutMs !== undefined) server.keepAliveTimeout = keepAliveTimeoutMs;
    this.#server = server;
    if ('path' in this.#at) server.listen(this.#at.path);
    else server.listen(this.#at.port ?? 0, this.#at.host ?? '127.0.0.1');
    await once(server, 'listening');
    if (!('path' in this.#at)) this.#at = { ...this.#at, port: this.port };
    return this;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server?.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  /** As a crash: connections are cut, and nothing is remembered. */
  async restart(epoch: string): Promise<void> {
    await this.stop();
    this.forget(epoch);
    await this.start();
  }

  /** What a restart does to the memory, while the connections stay. */
  forget(epoch: string): void {
    this.#seen.clear();
    this.epoch = epoch;
  }

  /** Cuts idle connections, as a server does after its keep-alive time. */
  closeIdleConnections(): void {
    this.#server?.closeIdleConnections();
  }

  /** Resolves as soon as `condition` holds; looked at after each request. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.nextRequest();
  }

  /** Resolves when the next request was dealt with. */
  async nextRequest(): Promise<void> {
    await once(this.#arrivals, 'request');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await readBody(request).catch(() => undefined);
    if (raw === undefined) return;
    const envelope = envelopeSchema.safeParse(JSON.parse(raw));
    if (request.url !== EVENTS_PATH || !envelope.success) {
      this.faults.push(`unreadable: ${request.url} ${envelope.error?.message}`);
      response.writeHead(400).end();
      return;
    }
    const misbehaviour = this.misbehave(envelope.data);
    if (misbehaviour?.kind === 'answer') {
      response.writeHead(misbehaviour.status, misbehaviour.headers).end(misbehaviour.body);
    } else {
      const answer = this.#take(envelope.data, raw, request);
      if (misbehaviour?.kind === 'cut') response.destroy();
      else if (misbehaviour?.kind === 'torso') breakOff(response);
      else if (misbehaviour?.kind !== 'silence') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      }
    }
    this.#arrivals.emit('request');
  }

  #take(envelope: Envelope, raw: string, request: IncomingMessage): Answer {
    const id = `${envelope.producer} ${envelope.seq}`;
    const seen = this.#seen.get(id);
    this.batches.push({ envelope, raw, headers: request.headers, duplicate: seen !== undefined });
    if (seen) {
      if (seen.raw !== raw) this.faults.push(`batch ${envelope.seq} was resent with other bytes`);
      return { ...seen.answer, duplicate: true };
    }
    const answer = this.#count(envelope);
    this.#seen.set(id, { raw, answer });
    return answer;
  }

  #count(envelope: Envelope): Answer {
    const rejected: Answer['rejected'] = [];
    for (const [index, event] of envelope.events.entries()) {
      const read = eventSchema.safeParse(event);
      if (read.success) this.accepted.push(read.data);
      else {
        const issue = read.error.issues[0];
        rejected.push({ index, path: issue?.path.join('.') ?? '', message: issue?.message ?? '' });
      }
    }
    this.rejectedCount += rejected.length;
    const accepted = envelope.events.length - rejected.length;
    return { epoch: this.epoch, accepted, rejected, duplicate: false };
  }
}

function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '999' });
  response.write('{"epoch"', () => response.destroy());
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
