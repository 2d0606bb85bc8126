/** What may be set for one direction of a proxy; shared by all its connections. */
export interface LaneSettings {
  /** Each piece is passed on this many real ms after it came. */
  delayMs: number;
  /** While true nothing is passed on. */
  held: boolean;
}

interface Piece {
  /** Undefined stands for the end of the stream. */
  bytes: Buffer | undefined;
  dueMs: number;
}

/** One direction of one proxied connection: a queue that keeps the order, with delay and hold. */
export class ProxyLane {
  readonly #settings: LaneSettings;
  readonly #deliver: (bytes: Buffer | undefined) => void;
  #queue: Piece[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `deliver` gets the pieces in order, and undefined for the end of the stream. */
  constructor(settings: LaneSettings, deliver: (bytes: Buffer | undefined) => void) {
    this.#settings = settings;
    this.#deliver = deliver;
  }

  push(bytes: Buffer | undefined): void {
    this.#queue.push({ bytes, dueMs: performance.now() + this.#settings.delayMs });
    this.pump();
  }

  /** Passes on whatever may go now. To be called after a change of the settings. */
  pump(): void {
    clearTimeout(this.#timer);
    while (!this.#settings.held) {
      const head = this.#queue[0];
      if (head === undefined) return;
      const leftMs = head.dueMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.pump(), Math.ceil(leftMs));
        return;
      }
      this.#queue.shift();
      this.#deliver(head.bytes);
    }
  }

  /** Forgets what is queued. */
  close(): void {
    clearTimeout(this.#timer);
    this.#queue = [];
  }
}
