const BYTES = 8;
const ROWS_PER_BLOCK = 1024;
/** Character codes. */
const [ZERO, NINE, A] = [48, 57, 97];

/**
 * Owner digests by row, 16 hex digits in 8 bytes: a text of its own takes 40. `null` is kept as zeros, which no digest
 * is but for a chance of 1 to 2^64. In blocks, so that to grow copies nothing.
 */
export class DigestColumn {
  readonly #blocks: Buffer[] = [];

  get(row: number): string | null {
    if (this.is(row, null)) return null;
    const at = atOf(row);
    return this.#block(row)?.toString('hex', at, at + BYTES) ?? null;
  }

  /** Whether `get` would give this. Makes no text. */
  is(row: number, digest: string | null): boolean {
    const block = this.#block(row);
    const at = atOf(row);
    for (let place = 0; place < BYTES; place += 1) {
      if ((block?.[at + place] ?? 0) !== byteOf(digest, place)) return false;
    }
    return true;
  }

  /** @param digest 16 lower-case hex digits, or `null` */
  set(row: number, digest: string | null): void {
    while (row >= this.#blocks.length * ROWS_PER_BLOCK)
      this.#blocks.push(Buffer.alloc(ROWS_PER_BLOCK * BYTES));
    const block = this.#block(row);
    const at = atOf(row);
    for (let place = 0; block !== undefined && place < BYTES; place += 1)
      block[at + place] = byteOf(digest, place);
  }

  #block(row: number): Buffer | undefined {
    return this.#blocks[Math.floor(row / ROWS_PER_BLOCK)];
  }
}

function atOf(row: number): number {
  return (row % ROWS_PER_BLOCK) * BYTES;
}

function byteOf(digest: string | null, place: number): number {
  return digest === null ? 0 : 16 * digitAt(digest, place * 2) + digitAt(digest, place * 2 + 1);
}

function digitAt(digest: string, place: number): number {
  const code = digest.charCodeAt(place);
  return code <= NINE ? code - ZERO : code - A + 10;
}
