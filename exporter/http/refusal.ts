import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../contract/batch.js';
import type { Clock } from '../../contract/clock.js';
import { REFUSALS, type RefusalId } from '../../contract/refusals.js';

/** A refusal on its way out. */
export interface RefusalNote<Id extends RefusalId = RefusalId> {
  readonly id: Id;
  /** One sentence that says what to do; holds nothing of the request. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * How long, and for how many bytes, a refused body is read on and thrown away. A client that still writes would
 * otherwise be cut off by a reset, and never see why.
 */
const LINGER_MS = 1000;
const LINGER_BYTES = 16 * 1_048_576;

/** Sends any value as JSON. @throws TypeError when it cannot be written as JSON; nothing was sent then */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = encodeJson(value);
  response.writeHead(status, jsonHeaders(body, headers));
  response.end(body);
}

/**
 * Sends a refusal. When the body was not read to its end the connection is closed after the answer, and the
 * rest of the body is read for a moment only. An answer that has begun already is cut off instead.
 */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  note: RefusalNote,
  clock: Clock,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const refusal: Refusal = { error: { id: note.id, message: note.message } };
  const { status } = REFUSALS[note.id];
  if (!hasUnreadBody(request)) {
    sendJson(response, status, refusal, note.headers);
    return;
  }
  const body = encodeJson(refusal);
  response.writeHead(status, { ...jsonHeaders(body, note.headers ?? {}), connection: 'close' });
  response.write(body);
  linger(request, clock, () => response.end());
}

function encodeJson(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value ?? null)}\n`);
}

function jsonHeaders(body: Buffer, headers: Readonly<Record<string, string>>): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  };
}

function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  const { 'transfer-encoding': encoding, 'content-length': length } = request.headers;
  return encoding !== undefined || Number(length ?? 0) > 0;
}

function linger(request: IncomingMessage, clock: Clock, done: () => void): void {
  let left = LINGER_BYTES;
  const finish = () => {
    timer.cancel();
    done();
  };
  const timer = clock.setTimer(finish, LINGER_MS);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) finish();
  });
  request.once('close', finish);
  request.once('end', finish);
  request.on('error', () => {});
  request.resume();
}
