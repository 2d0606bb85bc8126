import type { EventServer } from './emitter.js';
import { Ring } from './ring.js';

/** Bytes of a chunk: some 90 events, few enough objects for the garbage collector and little to be left unused. */
const CHUNK_BYTES = 32 * 1024;
/** A chunk that is closed with less in it is copied, so that the rest of its room is not kept for nothing. */
const HALF_CHUNK_BYTES = CHUNK_BYTES / 2;
const COMMA = 44;

/** One event, ready to stand in a batch. */
export interface EncodedEvent {
  readonly json: string;
  /** Its text is of ASCII alone, which is copied several times faster. */
  readonly isAscii: boolean;
  readonly urgent: boolean;
  /** The server that was current when it was encoded: one that names no server means this one. */
  readonly server: EventServer | undefined;
}

/** Events one after another, with a comma between two. */
class Chunk {
  /** Place of its first event among all that were ever pushed. */
  readonly order: number;
  readonly urgent: boolean;
  readonly server: EventServer | undefined;
  bytes: Buffer;
  used = 0;
  /** Where each event begins. */
  readonly starts: number[] = [];
  /** Events at the beginning that were taken out or dropped. */
  gone = 0;

  constructor(order: number, { urgent, server }: EncodedEvent, bytes: Buffer) {
    this.order = order;
    this.urgent = urgent;
    this.server = server;
    this.bytes = bytes;
  }

  get left(): number {
    return this.starts.length - this.gone;
  }

  add(event: EncodedEvent): void {
    if (this.used > 0) this.used = this.bytes.writeUInt8(COMMA, this.used);
    this.starts.push(this.used);
    const { json } = event;
    this.used += this.bytes.write(json, this.used, event.isAscii ? 'latin1' : 'utf8');
  }

  /** Takes out as many events as fit into `maxBytes`, `maxEvents` at most. */
  take(maxEvents: number, maxBytes: number): { bytes: Buffer; count: number } {
    const from = this.starts[this.gone] ?? this.used;
    let count = Math.min(maxEvents, this.left);
    while (count > 0 && this.#endOf(count) - from > maxBytes) count -= 1;
    const bytes = this.bytes.subarray(from, count === 0 ? from : this.#endOf(count));
    this.gone += count;
    return { bytes, count };
  }

  /** Where the last of the next `count` events ends. */
  #endOf(count: number): number {
    const next = this.starts[this.gone + count];
    return next === undefined ? this.used : next - 1;
  }
}

/**
 * Events waiting for a batch, as bytes, in the order they were emitted. When it is full, the oldest event that is not
 * urgent makes room: a lost lock must not be crowded out by ordinary traffic.
 *
 * Bytes and not objects: at tens of thousands of events a second, what waits is what the garbage collector copies, and
 * one long text put together of many takes twice the time of writing each where it belongs.
 */
export class EncodedQueue {
  readonly #limit: number;
  // Two rings, so that the oldest event of either kind is at hand; the order number merges them again.
  readonly #urgent = new Ring<Chunk>();
  readonly #ordinary = new Ring<Chunk>();
  /** The last chunk, while it may still grow. */
  #open: Chunk | undefined;
  /** Room of a chunk that was closed early. */
  #spare: Buffer | undefined;
  #length = 0;
  #order = 0;

  /** @param limit most events kept, at least 1 */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0;
  }

  /** The server of the oldest event. */
  get server(): EventServer | undefined {
    return this.#first()?.server;
  }

  /** Adds an event. @returns false when that cost one event: the oldest ordinary one, this one, or the oldest of all */
  push(event: EncodedEvent): boolean {
    const full = this.#length >= this.#limit;
    if (full && !this.#makeRoom(event.urgent)) return false;
    this.#order += 1;
    this.#chunkFor(event).add(event);
    this.#length += 1;
    return !full;
  }

  /** Takes the oldest events out: those of one server, as many as fit. The bytes have commas between events. */
  take(maxEvents: number, maxBytes: number): { parts: Buffer[]; count: number } {
    const parts: Buffer[] = [];
    const { server } = this;
    let count = 0;
    let room = maxBytes;
    for (let chunk = this.#first(); chunk !== undefined && chunk.server === server; chunk = this.#first()) {
      const taken = chunk.take(maxEvents - count, room - 1);
      if (taken.count === 0) break;
      if (parts.length > 0) parts.push(SEPARATOR);
      parts.push(taken.bytes);
      count += taken.count;
      room -= taken.bytes.length + 1;
      this.#length -= taken.count;
      if (chunk.left > 0) break;
      this.#drop(chunk);
    }
    return { parts, count };
  }

  /** Drops all. @returns how many they were */
  clear(): number {
    const count = this.#length;
    this.#urgent.clear();
    this.#ordinary.clear();
    this.#open = undefined;
    this.#length = 0;
    return count;
  }

  #first(): Chunk | undefined {
    const urgent = this.#urgent.peek();
    const ordinary = this.#ordinary.peek();
    if (urgent === undefined || ordinary === undefined) return urgent ?? ordinary;
    return urgent.order < ordinary.order ? urgent : ordinary;
  }

  /** @returns false when there is no room for an ordinary event because all others are urgent */
  #makeRoom(forUrgent: boolean): boolean {
    const victim = this.#ordinary.peek() ?? (forUrgent ? this.#urgent.peek() : undefined);
    if (victim === undefined) return false;
    victim.gone += 1;
    this.#length -= 1;
    if (victim.left === 0) this.#drop(victim);
    return true;
  }

  /** The chunk at the end, when the event may stand in it; else a new one. */
  #chunkFor(event: EncodedEvent): Chunk {
    const bytes = (event.isAscii ? event.json.length : Buffer.byteLength(event.json)) + 1;
    const open = this.#open;
    const fits = open !== undefined && open.used + bytes <= open.bytes.length;
    if (fits && open.urgent === event.urgent && open.server === event.server) return open;
    if (open !== undefined) this.#trim(open);
    const chunk = new Chunk(this.#order, event, this.#room(bytes));
    (event.urgent ? this.#urgent : this.#ordinary).push(chunk);
    this.#open = chunk;
    return chunk;
  }

  #room(bytes: number): Buffer {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined && spare.length >= bytes) return spare;
    return Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
  }

  #trim(chunk: Chunk): void {
    if (chunk.used >= HALF_CHUNK_BYTES) return;
    this.#spare = chunk.bytes;
    chunk.bytes = Buffer.from(chunk.bytes.subarray(0, chunk.used));
  }

  /** Takes a chunk out whose events are all gone. It is the first of its ring. */
  #drop(chunk: Chunk): void {
    (chunk.urgent ? this.#urgent : this.#ordinary).shift();
    if (this.#open === chunk) this.#open = undefined;
  }
}

const SEPARATOR = Buffer.from(',');
