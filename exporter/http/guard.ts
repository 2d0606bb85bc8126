import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RefusalNote } from './refusal.js';

/** Tokens of which any one opens the door, read anew for each request. An empty list keeps it shut. */
export type TokenSource = () => readonly string[];

/** Why a request may not come in. */
export type EntryRefusal = RefusalNote<'forbidden' | 'unauthorized'>;

/**
 * Whether a request may come in: by its `Host`, its `Origin` and its token, in this order.
 *
 * On a loopback connection `Host` must be a loopback name, whatever its port (a tunnel changes that): a page that
 * points its own name at 127.0.0.1 is kept out. On a unix socket, and beyond loopback, where a token is required,
 * any will do. `Origin` must be the very origin that the request went to: pages of others are kept out. Clients
 * that are no browsers send none.
 *
 * @returns why not, or undefined
 */
export function judgeRequest(
  request: IncomingMessage,
  tokens: TokenSource | undefined,
): EntryRefusal | undefined {
  const { host, origin, authorization } = request.headers;
  if (isLoopback(request.socket.localAddress) && !isLoopbackName(host)) {
    return forbid('The Host header must name this machine: localhost, 127.0.0.1 or [::1]');
  }
  if (origin !== undefined && !isSameOrigin(origin, host)) {
    return forbid('Requests of web pages from elsewhere are refused (their Origin is another)');
  }
  if (tokens && !isTokenValid(authorization, tokens())) {
    const message = 'A token is needed: send the header Authorization: Bearer and a token of --token-file';
    return { id: 'unauthorized', message, headers: { 'www-authenticate': 'Bearer' } };
  }
  return undefined;
}

function forbid(message: string): EntryRefusal {
  return { id: 'forbidden', message };
}

/** A unix socket has no address. */
function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1$|127\.|::ffff:127\.)/.test(address);
}

function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d*)?$/i.test(host);
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/** Compares with every token, in a time that tells nothing of any. */
function isTokenValid(authorization: string | undefined, tokens: readonly string[]): boolean {
  const [, sent = ''] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  const digest = digestOf(sent);
  let valid = false;
  for (const token of tokens) {
    if (timingSafeEqual(digest, digestOf(token)) && token !== '') valid = true;
  }
  return valid;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
