/** Smallest buffer: a body of less is not worth one of its own size, nor waiting for. */
const SMALLEST_BYTES = 65_536;
/** Bytes of the larger bodies that are gathered at a time: eight full batches. */
const ROOM_BYTES = 4_194_304;
/** Part of it that is kept for the next ones: bursts are rare. */
const KEPT_SHARE = 1 / 4;

/**
 * Buffers that bodies are gathered in, used again for the next ones, with room for a few large bodies at a time. A body lives
 * through the parsing of its JSON, which makes so many objects that it would grow old meanwhile: those of a hundred
 * thousand holds, which come all at once when an exporter is started again, left 25 MB that was not collected for minutes,
 * and as many bytes of holes.
 */
export class BodyBuffers {
  readonly #roomBytes: number;
  /** Not in use; the smallest first. */
  readonly #spare: Buffer[] = [];
  readonly #waiting: { readonly bytes: number; readonly goOn: () => void }[] = [];
  #spareBytes = 0;
  #usedBytes = 0;

  constructor(roomBytes: number = ROOM_BYTES) {
    this.#roomBytes = roomBytes;
  }

  /** Bytes of all that are in use. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /**
   * A buffer of at least so many bytes, with what was written to it before. A large one is waited for while there is no room,
   * first come first served; the body waits in the network meanwhile.
   */
  async take(bytes: number): Promise<Buffer> {
    const waits = bytes > SMALLEST_BYTES && (this.#waiting.length > 0 || !this.#hasRoom(bytes));
    if (waits) await new Promise<void>((goOn) => this.#waiting.push({ bytes, goOn }));
    const buffer = this.takeNow(bytes);
    this.#letIn();
    return buffer;
  }

  /** Likewise, without waiting: for a body that turns out to be longer than its beginning said. */
  takeNow(bytes: number): Buffer {
    const at = this.#spare.findIndex((spare) => spare.length >= bytes);
    const [spare] = at === -1 ? [] : this.#spare.splice(at, 1);
    const buffer = spare ?? Buffer.allocUnsafeSlow(sizeFor(bytes));
    if (spare) this.#spareBytes -= spare.length;
    this.#usedBytes += buffer.length;
    return buffer;
  }

  /** Takes a buffer back, which nobody reads or writes any more. */
  giveBack(buffer: Buffer): void {
    this.#usedBytes -= buffer.length;
    if (this.#spareBytes + buffer.length <= this.#roomBytes * KEPT_SHARE) {
      const at = this.#spare.findIndex((spare) => spare.length >= buffer.length);
      this.#spare.splice(at === -1 ? this.#spare.length : at, 0, buffer);
      this.#spareBytes += buffer.length;
    }
    this.#letIn();
  }

  #letIn(): void {
    const [first] = this.#waiting;
    if (!first || !this.#hasRoom(first.bytes)) return;
    this.#waiting.shift();
    first.goOn();
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
