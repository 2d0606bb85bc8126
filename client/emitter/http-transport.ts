import http from 'node:http';
import https from 'node:https';
import { MAX_BODY_BYTES } from '../../contract/batch.js';
import type { Clock } from '../../contract/clock.js';
import type { PostPort } from './batch-sender.js';
import { describeError } from './describe-error.js';
import type { IngestAddress } from './ingest-address.js';
import type { PostReply } from './verdict.js';

/** Longest answer read. The answer to a batch whose every event was rejected stays below. */
const MAX_ANSWER_BYTES = MAX_BODY_BYTES;

/** The secret of the exporter's `--token-file`; a function is asked before each attempt, so that it may be rotated. */
export type Token = string | (() => string);

/** How batches are posted. */
export interface HttpTransportOptions {
  readonly address: IngestAddress;
  readonly token: Token | undefined;
  /** Time for one attempt, from connecting to the last byte of the answer. */
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
}

/**
 * Posts batches over one kept-alive connection. The connection never keeps the process alive, neither idle nor
 * waiting for an answer; what Node cannot let go of (resolving a name, connecting, a full send buffer) ends
 * with the time limit.
 */
export class HttpTransport implements PostPort {
  readonly #options: HttpTransportOptions;
  readonly #agent: http.Agent;
  #request: http.ClientRequest | undefined;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    // Tried in turn, whatever Node's default: `localhost` may resolve to ::1 first and be served on 127.0.0.1 only.
    const settings = { keepAlive: true, maxSockets: 1, maxFreeSockets: 1, autoSelectFamily: true };
    this.#agent = options.address.secure ? new https.Agent(settings) : new http.Agent(settings);
  }

  post(body: Buffer): Promise<PostReply> {
    return new Promise((resolve) => {
      try {
        this.#attempt(body, this.#readToken(), resolve);
      } catch (error) {
        resolve(failed(describeError(error)));
      }
    });
  }

  abort(): void {
    this.#request?.destroy();
  }

  /** Closes the connection. */
  close(): void {
    this.abort();
    this.#agent.destroy();
  }

  #attempt(body: Buffer, token: string, resolve: (reply: PostReply) => void): void {
    const { clock, requestTimeoutMs, address } = this.#options;
    const open = address.secure ? https.request : http.request;
    const request = open({ ...this.#requestOptions(body, token), agent: this.#agent });
    this.#request = request;
    const finish = (reply: PostReply) => {
      limit.cancel();
      resolve(reply);
    };
    const giveUp = (text: string) => {
      finish(failed(text));
      request.destroy();
    };
    const limit = clock.setTimer(() => giveUp(`no answer within ${requestTimeoutMs} ms`), requestTimeoutMs);
    request.once('socket', (socket) => socket.unref());
    // It stays to the end: an error may follow one that was dealt with, and without a listener it ends the process.
    request.on('error', (error) => finish(failed(describeError(error), isStale(error, request))));
    request.once('response', (response) => {
      response.on('error', (error) => finish(failed(`the answer was cut off (${describeError(error)})`)));
      collect(response, giveUp, (text) => finish(answered(response, withoutToken(text, token))));
    });
    request.end(body);
  }

  #requestOptions(body: Buffer, token: string): http.RequestOptions {
    const { address } = this.#options;
    return {
      ...address.target,
      method: 'POST',
      path: address.path,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        ...(token !== '' && { authorization: `Bearer ${token}` }),
      },
    };
  }

  /** The token, '' without one. The error of the caller's function may hold anything, so it is not passed on. */
  #readToken(): string {
    const { token = '' } = this.#options;
    try {
      // A file's last line break is no part of the token, and no header may hold one.
      return (typeof token === 'string' ? token : token()).trim();
    } catch {
      throw new Error('the token could not be read: token() failed');
    }
  }
}

/** Reads an answer to its end, and breaks off when it is longer than an answer can be. */
function collect(
  response: http.IncomingMessage,
  giveUp: (text: string) => void,
  done: (text: string) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) giveUp(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    else chunks.push(chunk);
  });
  response.once('end', () => done(Buffer.concat(chunks).toString('utf8')));
}

function answered(response: http.IncomingMessage, text: string): PostReply {
  const { statusCode: status = 0, headers } = response;
  const retryAfter = headers['retry-after'];
  return { kind: 'answered', status, text, ...(retryAfter !== undefined && { retryAfter }) };
}

function failed(text: string, staleSocket = false): PostReply {
  return { kind: 'failed', text, staleSocket };
}

/** The server closed the idle connection while the request was on its way (the keep-alive race). */
function isStale(error: Error, request: http.ClientRequest): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** Some servers show in their answer what they were sent. */
function withoutToken(text: string, token: string): string {
  return token === '' ? text : text.replaceAll(token, '[token]');
}
