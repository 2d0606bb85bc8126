import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { ProxyLane } from './proxy-lane.js';
import type { ProxyRules } from './proxy-rules.js';
import { type RespRequest, RespRequestParser } from './resp-request.js';

/** One proxied connection: the client's socket, the socket to the server, and a lane each way. */
export class ProxyLink {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #rules: ProxyRules;
  readonly #parser: RespRequestParser | undefined;
  readonly #requests: ProxyLane;
  readonly #replies: ProxyLane;
  #incoming: RespRequest[] = [];
  /** Set by a cut after a request: the client hears nothing more. */
  #deaf = false;

  constructor(client: Socket, target: NetConnectOpts, rules: ProxyRules, framing: 'resp' | 'raw') {
    this.#client = client;
    this.#rules = rules;
    this.#parser = framing === 'resp' ? new RespRequestParser() : undefined;
    this.#upstream = connect({ ...target, allowHalfOpen: true });
    this.#requests = new ProxyLane(rules.requests, (bytes) => this.#forward(bytes));
    this.#replies = new ProxyLane(rules.replies, (bytes) => this.#relay(bytes));
    this.#wire();
  }

  /** Applies changed rules to what is queued. */
  pump(): void {
    this.#requests.pump();
    this.#replies.pump();
  }

  /** Destroys both sockets and forgets what is queued. */
  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #wire(): void {
    for (const socket of [this.#client, this.#upstream]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.destroy());
    }
    this.#client.on('data', (chunk) => this.#receive(chunk));
    this.#client.once('end', () => this.#requests.push(undefined));
    this.#client.once('close', () => {
      this.#requests.close();
      this.#replies.close();
      this.#upstream.destroy();
    });
    this.#upstream.on('data', (chunk) => this.#replies.push(chunk));
    this.#upstream.once('end', () => this.#replies.push(undefined));
  }

  #receive(chunk: Buffer): void {
    const requests = this.#parser?.push(chunk) ?? [{ args: [chunk], bytes: chunk }];
    for (const request of requests) {
      this.#rules.sawRequest(request);
      this.#incoming.push(request);
      this.#requests.push(request.bytes);
    }
  }

  #forward(bytes: Buffer | undefined): void {
    const request = bytes === undefined ? undefined : this.#incoming.shift();
    if (this.#rules.blackHole || this.#deaf) return;
    if (request === undefined) {
      this.#upstream.end();
      return;
    }
    this.#upstream.write(request.bytes);
    const cut = this.#rules.forwardedRequest(request);
    if (cut !== undefined) this.#cutOnceServed(cut);
  }

  #relay(bytes: Buffer | undefined): void {
    if (this.#rules.blackHole || this.#deaf) return;
    if (bytes === undefined) {
      this.#client.end();
      return;
    }
    const cut = this.#rules.takeReplyCut();
    if (cut !== undefined) {
      this.destroy();
      cut();
      return;
    }
    if (!this.#rules.swallowsReply(bytes)) this.#client.write(bytes);
  }

  /**
   * A RESP server works off what it has read before it sees the end of the stream and closes, so its close
   * proves that the request was executed. Other servers prove it by answering.
   */
  #cutOnceServed(done: () => void): void {
    this.#deaf = true;
    let cut = false;
    const finish = () => {
      if (cut) return;
      cut = true;
      this.destroy();
      done();
    };
    this.#upstream.once('close', finish);
    if (this.#parser === undefined) this.#upstream.once('data', finish);
    else this.#upstream.once('end', finish).end();
  }
}
