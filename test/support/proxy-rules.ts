import type { LaneSettings } from './proxy-lane.js';
import type { RespRequest } from './resp-request.js';

/** Picks requests by command name and arguments; in raw mode the only argument is the chunk. */
export type RequestMatch = (args: Buffer[]) => boolean;

/** Matches requests by command name, in any case: `isCommand('evalsha', 'eval')`. */
export function isCommand(...names: string[]): RequestMatch {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return (args) => wanted.has((args[0]?.toString('latin1') ?? '').toLowerCase());
}

interface Watch {
  left: number;
  matches: RequestMatch;
  done(request: RespRequest): void;
}

interface Cut {
  left: number;
  matches: RequestMatch;
  done(): void;
}

/** What a proxy does at present; one object shared by all its connections, changed at run time. */
export class ProxyRules {
  readonly requests: LaneSettings = { delayMs: 0, held: false };
  readonly replies: LaneSettings = { delayMs: 0, held: false };
  /** All bytes of both directions vanish while the sockets stay open. */
  blackHole = false;
  received = 0;
  forwarded = 0;
  readonly #watches = new Set<Watch>();
  #cut: Cut | undefined;
  #drops: ((bytes: Buffer) => void)[] = [];
  #replyCuts: (() => void)[] = [];

  /** Resolves with the `nth` matching request from now on, when it has come in from the client. */
  watchRequest(matches: RequestMatch, nth: number): Promise<RespRequest> {
    return new Promise((resolve) => {
      this.#watches.add({ left: nth, matches, done: resolve });
    });
  }

  setCut(matches: RequestMatch, nth: number): Promise<void> {
    return new Promise((resolve) => {
      this.#cut = { left: nth, matches, done: resolve };
    });
  }

  setDrop(): Promise<Buffer> {
    return new Promise((resolve) => {
      this.#drops.push(resolve);
    });
  }

  setReplyCut(): Promise<void> {
    return new Promise((resolve) => {
      this.#replyCuts.push(resolve);
    });
  }

  /** Counts a request that came in. */
  sawRequest(request: RespRequest): void {
    this.received += 1;
    for (const watch of this.#watches) {
      if (!watch.matches(request.args)) continue;
      watch.left -= 1;
      if (watch.left > 0) continue;
      this.#watches.delete(watch);
      watch.done(request);
    }
  }

  /** Counts a request that goes out, and tells whether the connection is to be cut after it. */
  forwardedRequest(request: RespRequest): (() => void) | undefined {
    this.forwarded += 1;
    const cut = this.#cut;
    if (!cut?.matches(request.args)) return undefined;
    cut.left -= 1;
    if (cut.left > 0) return undefined;
    this.#cut = undefined;
    return cut.done;
  }

  /** True when these bytes of a reply are to be swallowed. */
  swallowsReply(bytes: Buffer): boolean {
    const drop = this.#drops.shift();
    drop?.(bytes);
    return drop !== undefined;
  }

  /** The pending wish to cut the connection at the next reply, taken. */
  takeReplyCut(): (() => void) | undefined {
    return this.#replyCuts.shift();
  }
}
