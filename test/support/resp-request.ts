/** One request as a client sent it. */
export interface RespRequest {
  /** Command name and arguments. */
  args: Buffer[];
  /** The exact bytes, to be passed on unchanged. */
  bytes: Buffer;
}

const CR = 13;
const NOTHING = Buffer.alloc(0);

/** Cuts the client side of a RESP stream into requests: arrays of bulk strings, and inline commands. */
export class RespRequestParser {
  #rest: Buffer = NOTHING;

  /**
   * Takes the next bytes, wherever they were cut, and returns the requests that are complete by now.
   *
   * @throws Error when the stream is not RESP.
   */
  push(chunk: Buffer): RespRequest[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const requests: RespRequest[] = [];
    for (;;) {
      const request = parseRequest(this.#rest);
      if (request === undefined) return requests;
      requests.push(request);
      this.#rest = this.#rest.subarray(request.bytes.length);
    }
  }

  /** Bytes of a request that is not complete yet. */
  get pendingBytes(): number {
    return this.#rest.length;
  }
}

function parseRequest(buffer: Buffer): RespRequest | undefined {
  const head = readLine(buffer, 0);
  if (head === undefined) return undefined;
  if (buffer[0] !== '*'.charCodeAt(0)) return inlineRequest(buffer, head);
  let position = head.next;
  const args: Buffer[] = [];
  for (let left = toCount(head.text); left > 0; left -= 1) {
    const bulk = readBulk(buffer, position);
    if (bulk === undefined) return undefined;
    args.push(bulk.data);
    position = bulk.next;
  }
  return { args, bytes: buffer.subarray(0, position) };
}

function inlineRequest(buffer: Buffer, head: Line): RespRequest {
  const words = head.text.split(' ').filter((word) => word !== '');
  return { args: words.map((word) => Buffer.from(word)), bytes: buffer.subarray(0, head.next) };
}

function readBulk(buffer: Buffer, start: number): { data: Buffer; next: number } | undefined {
  const head = readLine(buffer, start);
  if (head === undefined) return undefined;
  if (!head.text.startsWith('$')) throw new Error(`not a RESP request: expected "$", got "${head.text}"`);
  const end = head.next + toCount(head.text);
  if (buffer.length < end + 2) return undefined;
  return { data: buffer.subarray(head.next, end), next: end + 2 };
}

interface Line {
  text: string;
  next: number;
}

function readLine(buffer: Buffer, start: number): Line | undefined {
  const end = buffer.indexOf('\n', start);
  if (end < 0) return undefined;
  const textEnd = buffer[end - 1] === CR ? end - 1 : end;
  return { text: buffer.toString('latin1', start, textEnd), next: end + 1 };
}

function toCount(text: string): number {
  const count = Number(text.slice(1));
  if (!Number.isInteger(count)) throw new Error(`not a RESP request: bad length in "${text}"`);
  return count;
}
