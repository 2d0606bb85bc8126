import type { Clock, Timer } from '../../contract/clock.js';

/** Smallest buffer: a body of less is not worth one of its own size, nor waiting for. */
const SMALLEST_BYTES = 65_536;
/** Bytes of the larger bodies that are gathered at a time: eight full batches. */
const ROOM_BYTES = 4_194_304;
/** Part of it that is kept for the next ones: bursts are rare. */
const KEPT_SHARE = 1 / 4;
/**
 * The longest that bodies which do not come to their end keep others waiting: a body of 1 MB takes some milliseconds, unless its
 * sender stopped in the middle.
 */
const STALL_MS = 1000;

/**
 * Buffers that bodies are gathered in, used again for the next ones, with room for a few large bodies at a time. A body lives
 * through the parsing of its JSON, which makes so many objects that it would grow old meanwhile: those of a hundred
 * thousand holds, which come all at once when an exporter is started again, left 25 MB that was not collected for minutes,
 * and as many bytes of holes.
 */
export class BodyBuffers {
  readonly #clock: Clock;
  readonly #roomBytes: number;
  /** In use, and counted. */
  readonly #counted = new Set<Buffer>();
  /** Not in use; the smallest first. */
  readonly #spare: Buffer[] = [];
  readonly #waiting: { readonly bytes: number; readonly give: (buffer: Buffer) => void }[] = [];
  #spareBytes = 0;
  #usedBytes = 0;
  /** Runs while some wait. */
  #stall: Timer | undefined = undefined;

  constructor(clock: Clock, roomBytes: number = ROOM_BYTES) {
    this.#clock = clock;
    this.#roomBytes = roomBytes;
  }

  /** Bytes of all that are in use, without those that stood still while others waited. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /**
   * A buffer of at least so many bytes, with what was written to it before. A large one is waited for while there is no room,
   * first come first served; the body waits in the network meanwhile. When none was let in for a second, those in use are
   * not counted any more: their senders stopped, and the number of batches at a time bounds them.
   */
  async take(bytes: number): Promise<Buffer> {
    const waits = bytes > SMALLEST_BYTES && (this.#waiting.length > 0 || !this.#hasRoom(bytes));
    return waits ? this.#wait(bytes) : this.takeNow(bytes);
  }

  /** Likewise, without waiting: for a body that turns out to be longer than its beginning said. */
  takeNow(bytes: number): Buffer {
    const at = this.#spare.findIndex((spare) => spare.length >= bytes);
    const [spare] = at === -1 ? [] : this.#spare.splice(at, 1);
    const buffer = spare ?? Buffer.allocUnsafeSlow(sizeFor(bytes));
    if (spare) this.#spareBytes -= spare.length;
    this.#counted.add(buffer);
    this.#usedBytes += buffer.length;
    return buffer;
  }

  /** Takes a buffer back, which nobody reads or writes any more. */
  giveBack(buffer: Buffer): void {
    if (this.#counted.delete(buffer)) this.#usedBytes -= buffer.length;
    if (this.#spareBytes + buffer.length <= this.#roomBytes * KEPT_SHARE) {
      const at = this.#spare.findIndex((spare) => spare.length >= buffer.length);
      this.#spare.splice(at === -1 ? this.#spare.length : at, 0, buffer);
      this.#spareBytes += buffer.length;
    }
    this.#letIn();
  }

  #wait(bytes: number): Promise<Buffer> {
    this.#stall ??= this.#watchStall();
    return new Promise((give) => this.#waiting.push({ bytes, give }));
  }

  /** Each gets its buffer at once: what is only promised is no room that others could see as taken. */
  #letIn(): void {
    const [first] = this.#waiting;
    if (!first || !this.#hasRoom(first.bytes)) return;
    this.#waiting.shift();
    this.#stall?.cancel();
    this.#stall = this.#waiting.length > 0 ? this.#watchStall() : undefined;
    first.give(this.takeNow(first.bytes));
    this.#letIn();
  }

  #watchStall(): Timer {
    return this.#clock.setTimer(() => {
      this.#counted.clear();
      this.#usedBytes = 0;
      this.#letIn();
    }, STALL_MS);
  }

  /** A body larger than all the room is let in when it is alone. */
  #hasRoom(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + sizeFor(bytes) <= this.#roomBytes;
  }
}

/** A power of two, so that few sizes serve all. */
function sizeFor(bytes: number): number {
  return Math.max(SMALLEST_BYTES, 2 ** Math.ceil(Math.log2(Math.max(1, bytes))));
}
