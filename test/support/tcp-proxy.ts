import { createServer, type NetConnectOpts, type Server } from 'node:net';
import { ProxyLink } from './proxy-link.js';
import { ProxyRules, type RequestMatch } from './proxy-rules.js';
import type { RespRequest } from './resp-request.js';

/** Where a proxy leads to, and what it reads. */
export interface TcpProxyOptions {
  /** The server behind the proxy: a port of 127.0.0.1, or a unix socket. */
  target: { port: number } | { path: string };
  /** `resp` (default) counts RESP requests; `raw` counts chunks and works with any protocol, such as HTTP. */
  framing?: 'resp' | 'raw';
}

/** Which request a rule is about. */
export interface RequestPick {
  /** The n-th matching request from now on, over all connections. Default 1. */
  nth?: number;
  /** Default: every request. */
  matches?: RequestMatch;
}

/** Starts a proxy on a free port of 127.0.0.1; all it does to the bytes is set later. */
export async function startTcpProxy(options: TcpProxyOptions): Promise<TcpProxy> {
  const proxy = new TcpProxy(options);
  await proxy.accept();
  return proxy;
}

/**
 * A TCP proxy that breaks connections on purpose. Rules hold for all present and future connections, and may be
 * changed at any time. Without rules it passes everything on, half-closes included.
 */
export class TcpProxy {
  readonly host = '127.0.0.1';
  readonly #target: NetConnectOpts;
  readonly #framing: 'resp' | 'raw';
  readonly #rules = new ProxyRules();
  readonly #links = new Set<ProxyLink>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: TcpProxyOptions) {
    const { target, framing = 'resp' } = options;
    this.#target = 'port' in target ? { host: '127.0.0.1', port: target.port } : { path: target.path };
    this.#framing = framing;
  }

  get port(): number {
    return this.#port;
  }

  /** Requests that came in from clients so far. */
  get received(): number {
    return this.#rules.received;
  }

  /** Requests passed on to the server so far. */
  get forwarded(): number {
    return this.#rules.forwarded;
  }

  /** Client connections open now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Resolves when the picked request has come in, also while requests are held back. */
  request(pick: RequestPick = {}): Promise<RespRequest> {
    return this.#rules.watchRequest(pick.matches ?? always, pick.nth ?? 1);
  }

  /** Each reply reaches the client this many ms late; 0 ends it for what comes later. */
  delayReplies(ms: number): void {
    this.#rules.replies.delayMs = ms;
  }

  /** Each request reaches the server this many ms late; 0 ends it for what comes later. */
  delayRequests(ms: number): void {
    this.#rules.requests.delayMs = ms;
  }

  /** Keeps replies back until `releaseReplies()`: a server that went silent. */
  holdReplies(): void {
    this.#rules.replies.held = true;
  }

  releaseReplies(): void {
    this.#rules.replies.held = false;
    this.#pump();
  }

  /** Keeps requests back until `releaseRequests()`. */
  holdRequests(): void {
    this.#rules.requests.held = true;
  }

  releaseRequests(): void {
    this.#rules.requests.held = false;
    this.#pump();
  }

  /**
   * Swallows the next piece of reply and resolves with it; the connection stays. Exact as long as one request
   * is under way: replies that the server writes at once are one piece.
   */
  dropNextReply(): Promise<Buffer> {
    return this.#rules.setDrop();
  }

  /**
   * Passes the picked request on, then closes the client's socket without relaying any reply of it. Resolves
   * after that, when the server *has executed* the request (RESP: it closed; raw: it answered). Replaces an
   * earlier rule of this kind.
   */
  cutAfterRequest(pick: RequestPick = {}): Promise<void> {
    return this.#rules.setCut(pick.matches ?? always, pick.nth ?? 1);
  }

  /** Closes the connection whose server answers next, without relaying the answer. */
  cutAtNextReply(): Promise<void> {
    return this.#rules.setReplyCut();
  }

  /** While on, the bytes of both directions vanish and sockets stay open. Old connections are of no use after it. */
  blackHole(on = true): void {
    this.#rules.blackHole = on;
  }

  /** Closes all present connections at once. */
  cutAll(): void {
    for (const link of this.#links) link.destroy();
  }

  /** From now on new connections get ECONNREFUSED; present ones stay. */
  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Accepts connections (again), always on the same port. */
  accept(): Promise<void> {
    if (this.#server !== undefined) return Promise.resolve();
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const link = new ProxyLink(client, this.#target, this.#rules, this.#framing);
      this.#links.add(link);
      client.once('close', () => this.#links.delete(link));
    });
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.host, () => {
        const address = server.address();
        if (address !== null && typeof address === 'object') this.#port = address.port;
        resolve();
      });
    });
  }

  /** Refuses and cuts everything. May be repeated. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = server && new Promise((resolve) => server.close(resolve));
    this.cutAll();
    await closed;
  }

  #pump(): void {
    for (const link of this.#links) link.pump();
  }
}

function always(): boolean {
  return true;
}
