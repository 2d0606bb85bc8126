import type { Express, Request, Response } from 'express';
import { MAX_KEY_BASE64_LENGTH } from '../../contract/event.js';
import { DIGEST_DIGITS } from '../../contract/lock-id.js';
import type { BodyBuffers } from './body-buffers.js';
import { roundFigures } from './figures.js';
import { type AppSurroundings, refuse, refuseMethod } from './json-app.js';
import { type BodyReading, readJsonBody } from './read-body.js';
import { sendJson } from './refusal.js';

/** What the paths about single locks show, each as a JSON value. */
export interface LockRouteOptions extends AppSurroundings {
  /** What was found lately. */
  findings(): unknown;
  /** The history of a lock by its id. */
  timeline(lock: string): unknown;
  /** The same by the key as Redis stores it. */
  timelineOfKey(key: Buffer): unknown;
  /** The hottest locks. @param limit from 1 to 1024 */
  hot(limit: number): unknown;
}

export const FINDINGS_PATH = '/api/v1/findings';
export const TIMELINE_PATH = '/api/v1/timeline';
export const HOT_PATH = '/api/v1/hot';

/** A key as JSON, base64 and all: twice the longest that a client reports. */
const MAX_KEY_BODY_BYTES = 4 * MAX_KEY_BASE64_LENGTH;
/** Most hot locks in an answer unless asked otherwise. */
export const DEFAULT_HOT_LIMIT = 20;
/** Most hot locks that may be asked for: all that are counted. */
export const MAX_HOT_LIMIT = 1024;

/** Adds the paths. A key is taken in a body only: an address ends up in logs. */
export function addLockRoutes(app: Express, options: LockRouteOptions, buffers: BodyBuffers): void {
  const reading = { maxBytes: MAX_KEY_BODY_BYTES, buffers };
  app.get(FINDINGS_PATH, (_request, response) => sendJson(response, 200, roundFigures(options.findings())));
  app.get(HOT_PATH, (request, response) => sendHot(request, response, options));
  app.get(TIMELINE_PATH, (request, response) => sendTimeline(request, response, options));
  app.post(TIMELINE_PATH, (request, response) => sendTimelineOfKey(request, response, options, reading));
  app.all([FINDINGS_PATH, HOT_PATH], refuseMethod('GET, HEAD', options));
  app.all(TIMELINE_PATH, refuseMethod('GET, HEAD, POST', options));
}

function sendHot(request: Request, response: Response, options: LockRouteOptions): void {
  const { limit = String(DEFAULT_HOT_LIMIT), ...others } = request.query;
  const count = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (Object.keys(others).length > 0 || count < 1 || count > MAX_HOT_LIMIT) {
    const message = `Only the parameter limit is known, a whole number from 1 to ${MAX_HOT_LIMIT}`;
    refuse(request, response, { id: 'bad_query', message }, options);
  } else sendJson(response, 200, roundFigures(options.hot(count)));
}

function sendTimeline(request: Request, response: Response, options: LockRouteOptions): void {
  const { lock, ...others } = request.query;
  const isId = typeof lock === 'string' && new RegExp(`^[0-9a-f]{${DIGEST_DIGITS}}$`).test(lock);
  if (isId && Object.keys(others).length === 0) sendJson(response, 200, roundFigures(options.timeline(lock)));
  else {
    const message = `The parameter lock must be a lock id of ${DIGEST_DIGITS} lower-case hex digits; a key is posted as {"key": "..."}`;
    refuse(request, response, { id: 'bad_query', message }, options);
  }
}

async function sendTimelineOfKey(
  request: Request,
  response: Response,
  options: LockRouteOptions,
  reading: BodyReading,
): Promise<void> {
  const read = await readJsonBody(request, reading);
  if ('gone' in read) return;
  if ('refusal' in read) {
    refuse(request, response, read.refusal, options);
    return;
  }
  const key = keyOf(read.value);
  if (key) sendJson(response, 200, roundFigures(options.timelineOfKey(key)));
  else {
    const message = 'The body must be {"key": "..."}, or {"keyBase64": "..."} for a key that is no text';
    refuse(request, response, { id: 'bad_query', message }, options);
  }
}

function keyOf(body: unknown): Buffer | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { key, keyBase64 } = body as { key?: unknown; keyBase64?: unknown };
  if (typeof key === 'string' && key !== '') return Buffer.from(key);
  if (typeof keyBase64 === 'string' && keyBase64 !== '') return Buffer.from(keyBase64, 'base64');
  return undefined;
}
