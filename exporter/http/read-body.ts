import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { BodyBuffers } from './body-buffers.js';
import type { RefusalNote } from './refusal.js';

/** Why a body is not taken. */
export type BodyRefusal = RefusalNote<'bad_json' | 'unsupported_media_type' | 'too_large'>;

/** A body read as JSON; why it is refused; or nothing, because the client went away. */
export type BodyRead =
  | { readonly value: unknown }
  | { readonly refusal: BodyRefusal }
  | { readonly gone: true };

/** How bodies are read. */
export interface BodyReading {
  /** Largest body, also after inflation. */
  readonly maxBytes: number;
  readonly buffers: BodyBuffers;
}

/**
 * Reads a request's body as JSON, plain or gzipped. Neither the body nor what it inflates to is ever kept beyond
 * `maxBytes`: reading stops there. Never rejects.
 */
export async function readJsonBody(
  request: IncomingMessage,
  { maxBytes, buffers }: BodyReading,
): Promise<BodyRead> {
  const misfit = judgeHeaders(request, maxBytes);
  if (misfit) return { refusal: misfit };
  const declared = Number(request.headers['content-length'] ?? 0);
  const body = new BodyBytes(buffers, await buffers.take(Number.isSafeInteger(declared) ? declared : 0));
  try {
    if (request.destroyed) return { gone: true };
    const raw = await collect(request, body, maxBytes);
    if (!Buffer.isBuffer(raw)) return raw;
    const plain = encodingOf(request) === 'gzip' ? await inflate(raw, maxBytes) : raw;
    return Buffer.isBuffer(plain) ? parseJson(plain) : plain;
  } finally {
    body.clear();
  }
}

function judgeHeaders(request: IncomingMessage, maxBytes: number): BodyRefusal | undefined {
  if (!isJsonType(request.headers['content-type'])) {
    return refuseType('The Content-Type must be application/json');
  }
  if (!['identity', 'gzip'].includes(encodingOf(request))) {
    return refuseType('The Content-Encoding must be gzip, or left out');
  }
  return Number(request.headers['content-length'] ?? 0) > maxBytes ? refuseSize(maxBytes) : undefined;
}

function isJsonType(header: string | undefined): boolean {
  return /^application\/json *(; *charset *= *"?utf-?8"? *)?;? *$/i.test(header ?? '');
}

function encodingOf(request: IncomingMessage): string {
  return (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
}

function collect(request: IncomingMessage, body: BodyBytes, maxBytes: number): Promise<Buffer | BodyRead> {
  return new Promise((resolve) => {
    const take = (chunk: Buffer) => {
      body.add(chunk);
      if (body.size <= maxBytes) return;
      request.off('data', take);
      request.pause();
      resolve({ refusal: refuseSize(maxBytes) });
    };
    request.on('data', take);
    request.once('end', () => resolve(body.whole()));
    request.once('close', () => resolve({ gone: true }));
    request.once('error', () => resolve({ gone: true }));
  });
}

/**
 * Gathers a body in one piece of the length that its header tells. The chunks are garbage as soon as they are copied:
 * kept until the end, those of many bodies at a time grew old, and left 60 MB of holes in the process's memory.
 */
class BodyBytes {
  readonly #buffers: BodyBuffers;
  #bytes: Buffer;
  size = 0;

  /** @param bytes of the length that the header tells, taken from `buffers` */
  constructor(buffers: BodyBuffers, bytes: Buffer) {
    this.#buffers = buffers;
    this.#bytes = bytes;
  }

  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (size > this.#bytes.length) {
      const larger = this.#buffers.takeNow(Math.max(size, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.size);
      this.#buffers.giveBack(this.#bytes);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.size);
    this.size = size;
  }

  /** Gives its room back: what `whole` returned must not be read any more. */
  clear(): void {
    this.#buffers.giveBack(this.#bytes);
    this.#bytes = Buffer.alloc(0);
    this.size = 0;
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.size);
  }
}

async function inflate(raw: Buffer, maxBytes: number): Promise<Buffer | BodyRead> {
  try {
    return await promisify(gunzip)(raw, { maxOutputLength: maxBytes });
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return { refusal: tooLarge ? refuseSize(maxBytes) : refuseJson('The body is not whole gzip data') };
  }
}

function parseJson(bytes: Buffer): BodyRead {
  if (bytes.length === 0)
    return { refusal: refuseJson('The body is empty: it must be a batch of events in JSON') };
  if (!isUtf8(bytes)) return { refusal: refuseJson('The body is not UTF-8') };
  try {
    return { value: JSON.parse(bytes.toString('utf8')) as unknown };
  } catch {
    // The parser's own words quote the body.
    return { refusal: refuseJson('The body is not JSON') };
  }
}

function refuseJson(message: string): BodyRefusal {
  return { id: 'bad_json', message };
}

function refuseType(message: string): BodyRefusal {
  return { id: 'unsupported_media_type', message };
}

function refuseSize(maxBytes: number): BodyRefusal {
  const message = `The body is larger than ${maxBytes} bytes, after inflation: send fewer events in one batch`;
  return { id: 'too_large', message };
}
