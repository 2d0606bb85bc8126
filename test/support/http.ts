import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';

/** An HTTP answer, read to its end. */
export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  bytes: Buffer;
}

/** What a request may carry. */
export interface HttpOptions {
  headers?: Readonly<Record<string, string>>;
  /** Talk to this unix socket instead of the URL's host; the URL gives path and Host header only. */
  unixSocket?: string;
  /** Gives up after this many real ms. Default 10000. */
  timeoutMs?: number;
}

/**
 * GET on a connection of its own, without keep-alive.
 *
 * @throws the socket's error, or an Error on time-out.
 */
export function httpGet(url: string, options: HttpOptions = {}): Promise<HttpAnswer> {
  return httpSend('GET', url, undefined, options);
}

/**
 * POST; an object is sent as JSON, text and bytes go as they are. The content type is `application/json` unless
 * a header says otherwise.
 *
 * @throws see {@link httpGet}.
 */
export function httpPost(
  url: string,
  body: object | string | Buffer,
  options: HttpOptions = {},
): Promise<HttpAnswer> {
  const asIs = typeof body === 'string' || Buffer.isBuffer(body);
  const headers = { 'content-type': 'application/json', ...options.headers };
  return httpSend('POST', url, asIs ? body : JSON.stringify(body), { ...options, headers });
}

/** Any method, see {@link httpGet}. */
export function httpSend(
  method: string,
  url: string,
  body: string | Buffer | undefined,
  options: HttpOptions = {},
): Promise<HttpAnswer> {
  const { unixSocket, timeoutMs = 10_000, headers = {} } = options;
  const length: Record<string, string> =
    body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const settings: RequestOptions = { method, headers: { ...length, ...headers }, agent: false };
  if (unixSocket !== undefined) settings.socketPath = unixSocket;
  return new Promise((resolve, reject) => {
    const sent = request(url, settings, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: bytes.toString(),
          bytes,
        });
      });
    });
    sent.setTimeout(timeoutMs, () =>
      sent.destroy(new Error(`${method} ${url}: no answer in ${timeoutMs} ms`)),
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
