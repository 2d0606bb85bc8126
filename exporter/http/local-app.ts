import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { type Answer, EVENTS_PATH, MAX_BODY_BYTES, type Refusal } from '../../contract/batch.js';
import { BodyBuffers } from './body-buffers.js';
import { roundFigures } from './figures.js';
import { type EntryRefusal, judgeRequest, type TokenSource } from './guard.js';
import { closeApp, createBareApp, refuse, refuseMethod } from './json-app.js';
import { addLockRoutes, type LockRouteOptions } from './lock-routes.js';
import { type LocksQuery, readLocksQuery } from './locks-query.js';
import { type BodyReading, type BodyRefusal, readJsonBody } from './read-body.js';
import { type RefusalNote, sendJson, sendRefusal } from './refusal.js';
import { Slots } from './slots.js';

/** How a batch is to be answered. */
export type BatchResponse =
  | { readonly status: 200; readonly answer: Answer }
  | { readonly status: 400; readonly refusal: Refusal };

/** What became of a batch that was refused here; the rest is counted by whoever receives batches. */
export type TransportResult =
  | EntryRefusal['id']
  | BodyRefusal['id']
  | 'overloaded'
  | 'shutting_down'
  | 'aborted'
  | 'internal';

/** What the local listener serves. */
export interface LocalAppOptions extends LockRouteOptions {
  /** Takes what a body said in JSON. Not called for a request that was refused. Must not throw. */
  receiveBatch(body: unknown): BatchResponse;
  /** What `/api/v1/status` shows, as a JSON value. */
  status(): unknown;
  /** What `/api/v1/locks` shows, as a JSON value. */
  locks(query: LocksQuery): unknown;
  readonly counters: { batch(result: TransportResult): void };
  /** The exporter is about to end: everything is refused with 503, so that clients try again elsewhere or later. */
  isClosing(): boolean;
  /** Left out: no token is asked for. */
  readonly tokens?: TokenSource;
  readonly limits?: Partial<LocalLimits>;
}

/** What bounds the local listener. */
export interface LocalLimits {
  /** Largest body, also after inflation, in bytes. */
  readonly maxBodyBytes: number;
  /** Batches being read at the same time; bounds the memory for bodies. */
  readonly maxBatches: number;
}

const DEFAULT_LIMITS: LocalLimits = { maxBodyBytes: MAX_BODY_BYTES, maxBatches: 64 };

/** Ingest and the JSON API. Every answer is JSON, also to what cannot be understood. */
export function createLocalApp(options: LocalAppOptions): RequestListener {
  const app = createBareApp();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const batches = new Slots(limits.maxBatches);
  const reading = { maxBytes: limits.maxBodyBytes, buffers: new BodyBuffers(options.clock) };
  app.use((request, response, next) => {
    const refusal = options.isClosing() ? SHUTTING_DOWN : judgeRequest(request, options.tokens);
    if (!refusal) return next();
    if (request.method === 'POST' && request.path === EVENTS_PATH)
      refuseBatch(request, response, refusal, options);
    else refuse(request, response, refusal, options);
  });
  app.post(EVENTS_PATH, async (request, response) => {
    const work = batches.run(() => takeBatch(request, response, options, reading));
    if (!work) refuseBatch(request, response, OVERLOADED, options);
    await work;
  });
  app.all(EVENTS_PATH, refuseMethod('POST', options));
  app.get('/api/v1/status', async (_request, response) =>
    sendJson(response, 200, roundFigures(await options.status())),
  );
  app.get('/api/v1/locks', (request, response) => sendLocks(request, response, options));
  app.all(['/api/v1/status', '/api/v1/locks'], refuseMethod('GET, HEAD', options));
  addLockRoutes(app, options, reading.buffers);
  closeApp(app, options);
  return app;
}

/** A refusal of a batch, counted by its id. */
type BatchRefusal = EntryRefusal | BodyRefusal | RefusalNote<'overloaded' | 'shutting_down'>;

const SHUTTING_DOWN: RefusalNote<'shutting_down'> = {
  id: 'shutting_down',
  message: 'The exporter is ending: send the batch again when it is back',
  headers: { 'retry-after': '1' },
};
const OVERLOADED: RefusalNote<'overloaded'> = {
  id: 'overloaded',
  message: 'Too many batches are on their way: send this one again in a second',
  headers: { 'retry-after': '1' },
};

async function takeBatch(
  request: IncomingMessage,
  response: ServerResponse,
  options: LocalAppOptions,
  reading: BodyReading,
): Promise<void> {
  const read = await readJsonBody(request, reading);
  if ('gone' in read) options.counters.batch('aborted');
  else if ('refusal' in read) refuseBatch(request, response, read.refusal, options);
  else answerBatch(response, receive(read.value, options));
}

function receive(body: unknown, options: LocalAppOptions): BatchResponse {
  try {
    return options.receiveBatch(body);
  } catch (error) {
    options.counters.batch('internal');
    throw error;
  }
}

function answerBatch(response: ServerResponse, result: BatchResponse): void {
  sendJson(response, result.status, result.status === 200 ? result.answer : result.refusal);
}

function refuseBatch(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: BatchRefusal,
  options: LocalAppOptions,
): void {
  options.counters.batch(refusal.id);
  sendRefusal(request, response, refusal, options.clock);
}

async function sendLocks(request: Request, response: Response, options: LocalAppOptions): Promise<void> {
  const read = readLocksQuery(request.query);
  if ('message' in read) refuse(request, response, { id: 'bad_query', ...read }, options);
  else sendJson(response, 200, roundFigures(await options.locks(read.query)));
}
