import { randomFillSync } from 'node:crypto';

/** Random bytes in one token: 144 bits, a multiple of 3 so that base64 needs no padding. */
const TOKEN_BYTES = 18;
/** Tokens cut from one draw of the system's generator: a draw costs about as much for 1 as for 100. */
const TOKENS_PER_DRAW = 128;

/** Fills the whole of `bytes` with randomness fit for secrets. */
export type FillRandom = (bytes: Buffer) => void;

/** Makes owner tokens: 24 characters of base64url, 144 random bits each, none given out twice. */
export class TokenSource {
  readonly #fill: FillRandom;
  readonly #pool = Buffer.alloc(TOKEN_BYTES * TOKENS_PER_DRAW);
  #offset = this.#pool.length;

  constructor(fill: FillRandom = randomFillSync) {
    this.#fill = fill;
  }

  next(): string {
    if (this.#offset >= this.#pool.length) this.#draw();
    const end = this.#offset + TOKEN_BYTES;
    const token = this.#pool.toString('base64url', this.#offset, end);
    this.#offset = end;
    return token;
  }

  #draw(): void {
    this.#fill(this.#pool);
    this.#offset = 0;
  }
}
