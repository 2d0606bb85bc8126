const BYTES = 8;
const FIRST_ROWS = 64;
/** A column that is full gets so much more room than it needs. */
const GROWTH = 1.25;
/** Character codes. */
const [ZERO, NINE, A] = [48, 57, 97];

/**
 * Lock ids or owner digests by row, 16 hex digits in 8 bytes: a text of its own takes 40. `null` is kept as zeros,
 * which no digest is but for a chance of 1 to 2^64.
 */
export class DigestColumn {
  #bytes = Buffer.alloc(FIRST_ROWS * BYTES);

  get(row: number): string | null {
    return this.is(row, null) ? null : this.#bytes.toString('hex', row * BYTES, (row + 1) * BYTES);
  }

  /** Whether `get` would give this. Makes no text. */
  is(row: number, digest: string | null): boolean {
    for (let place = 0; place < BYTES; place += 1) {
      if ((this.#bytes[row * BYTES + place] ?? 0) !== byteOf(digest, place)) return false;
    }
    return true;
  }

  /** @param digest 16 lower-case hex digits, or `null` */
  set(row: number, digest: string | null): void {
    if ((row + 1) * BYTES > this.#bytes.length) this.#addRows(row + 1);
    for (let place = 0; place < BYTES; place += 1) this.#bytes[row * BYTES + place] = byteOf(digest, place);
  }

  #addRows(rows: number): void {
    const bytes = Buffer.alloc(Math.ceil(rows * GROWTH) * BYTES);
    this.#bytes.copy(bytes);
    this.#bytes = bytes;
  }
}

function byteOf(digest: string | null, place: number): number {
  return digest === null ? 0 : 16 * digitAt(digest, place * 2) + digitAt(digest, place * 2 + 1);
}

function digitAt(digest: string, place: number): number {
  const code = digest.charCodeAt(place);
  return code <= NINE ? code - ZERO : code - A + 10;
}
