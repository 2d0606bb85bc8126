import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type AppSurroundings, closeApp, createBareApp, refuse, refuseMethod } from './json-app.js';
import type { RefusalNote } from './refusal.js';
import { Slots } from './slots.js';

/** What the listener for Prometheus serves. */
export interface MetricsAppOptions extends AppSurroundings {
  /** The page in pieces; called once per scrape, abandoned when the client goes away. */
  renderMetrics(): AsyncIterable<string>;
  /** Content type of the page, sent whatever the client accepts. */
  readonly contentType: string;
  /** The process is up and listens. Must not depend on Redis. */
  isReady(): boolean;
}

/** More scrapes at a time are refused: two Prometheus servers and a person are three. */
const MAX_SCRAPES = 16;

/**
 * `/metrics`, `/-/healthy` and `/-/ready`, and nothing else. There are no conditional answers: a scrape is always
 * 200 with a page, or fails. A page that fails half-way is cut off, so that Prometheus drops it instead of
 * taking half of it for the whole.
 */
export function createMetricsApp(options: MetricsAppOptions): RequestListener {
  const app = createBareApp();
  const scrapes = new Slots(MAX_SCRAPES);
  app.get('/metrics', async (request, response) => {
    const scrape = scrapes.run(() => sendPage(request, response, options));
    if (!scrape) refuse(request, response, TOO_MANY_SCRAPES, options);
    await scrape;
  });
  app.get('/-/healthy', (_request, response) => sendText(response, 'healthy\n'));
  app.get('/-/ready', (request, response) => {
    if (options.isReady()) sendText(response, 'ready\n');
    else refuse(request, response, NOT_READY, options);
  });
  app.all(['/metrics', '/-/healthy', '/-/ready'], refuseMethod('GET, HEAD', options));
  closeApp(app, options);
  return app;
}

const TOO_MANY_SCRAPES: RefusalNote = {
  id: 'overloaded',
  message: `At most ${MAX_SCRAPES} scrapes are served at a time`,
  headers: { 'retry-after': '1' },
};
const NOT_READY: RefusalNote = { id: 'not_ready', message: 'The exporter is starting or stopping' };

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  response.end(text);
}

async function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  options: MetricsAppOptions,
): Promise<void> {
  const headers = { 'content-type': options.contentType, 'cache-control': 'no-store' };
  if (request.method === 'HEAD') {
    response.writeHead(200, headers).end();
    return;
  }
  const gone = whenGone(request, response);
  const pieces = options.renderMetrics()[Symbol.asyncIterator]();
  // The first piece comes before the status: a page that fails at once is answered as an error.
  let piece = await Promise.race([pieces.next(), gone]);
  if (piece) response.writeHead(200, headers);
  while (piece && !piece.done) {
    if (!response.write(piece.value)) await Promise.race([drained(response), gone]);
    piece = await Promise.race([pieces.next(), gone]);
  }
  if (piece) response.end();
  // Not awaited: a page that hangs would hold this scrape's place for ever.
  else pieces.return?.().then(undefined, options.reportFault);
}

/**
 * Resolves when nobody waits for the answer any more. A pipelined answer whose turn never came gets no `close` of its
 * own when the connection ends, so the connection is watched too.
 */
function whenGone(request: IncomingMessage, response: ServerResponse): Promise<undefined> {
  const { socket } = request;
  return new Promise((resolve) => {
    const done = () => {
      response.off('close', done);
      socket.off('close', done);
      resolve(undefined);
    };
    response.once('close', done);
    socket.once('close', done);
    if (socket.destroyed) done();
  });
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('drain', resolve));
}
