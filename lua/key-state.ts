/** Places in a state, in bytes from its beginning. */
const OWNER_AT = 8;

/** How long the state of a key is: its remaining life as a double, and a word about its owner. */
export const STATE_BYTES = 24;

/** What the scripts say instead of a remaining life. */
const NO_EXPIRY = -1;
const VANISHED = -2;
const MOVED = -3;

/** Character codes. */
const [SPACE, DASH, COLON] = [32, 45, 58];
const [ZERO, NINE, A, F] = [48, 57, 97, 102];

/** The state of a key where a script packed it. One object reads many, one after the other. */
export class KeyState {
  readonly bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Whether a script writes what lies there. */
  get isValid(): boolean {
    const left = this.#left;
    return Number.isInteger(left) && left >= MOVED && this.#isOwnerWord();
  }

  /** There is no such key, or not any more. */
  get isGone(): boolean {
    return this.#left === VANISHED;
  }

  /** The key's slot is another node's. */
  get isElsewhere(): boolean {
    return this.#left === MOVED;
  }

  /** Counted from the script's `serverUs`; `null`: without expiry. Of a key that is there. */
  get leftMs(): number | null {
    const left = this.#left;
    return left === NO_EXPIRY ? null : Math.min(left, Number.MAX_SAFE_INTEGER);
  }

  /** Redis's name of the type: `string`, `hash`, `list` ...; `null` when owners were not asked for, as it costs a call for each key. */
  get type(): string | null {
    const first = this.#ownerByte(0);
    if (first === SPACE) return null;
    return first === COLON ? this.#ownerText().slice(1).trimEnd() : 'string';
  }

  /** First 16 hex digits of the SHA-1 of the value; `null` when not asked for, not a string, or too large to read. */
  get owner(): string | null {
    const first = this.#ownerByte(0);
    return first === SPACE || first === DASH || first === COLON ? null : this.#ownerText();
  }

  moveTo(at: number): void {
    this.#at = at;
  }

  get #left(): number {
    return this.bytes.readDoubleLE(this.#at);
  }

  /** Its mark, or nothing but hex digits. */
  #isOwnerWord(): boolean {
    const first = this.#ownerByte(0);
    if (first === SPACE || first === DASH || first === COLON) return true;
    for (let place = 0; place < STATE_BYTES - OWNER_AT; place += 1) {
      if (!isHexDigit(this.#ownerByte(place))) return false;
    }
    return true;
  }

  #ownerByte(place: number): number {
    return this.bytes[this.#at + OWNER_AT + place] ?? 0;
  }

  #ownerText(): string {
    return this.bytes.toString('latin1', this.#at + OWNER_AT, this.#at + STATE_BYTES);
  }
}

function isHexDigit(code: number): boolean {
  return (code >= ZERO && code <= NINE) || (code >= A && code <= F);
}
