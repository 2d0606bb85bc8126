/** Hex digits in one of the two words of a digest. */
const WORD_DIGITS = 8;

/**
 * The first 32 bits of a lock id or an owner digest, as a signed integer: two such words take a third of the text's room.
 *
 * @param digest 16 lower-case hex digits, as the contract demands; anything else has no meaning
 */
export function highWord(digest: string): number {
  return (byteAt(digest, 0) << 24) | (byteAt(digest, 2) << 16) | (byteAt(digest, 4) << 8) | byteAt(digest, 6);
}

/** The last 32 bits, likewise. */
export function lowWord(digest: string): number {
  return (
    (byteAt(digest, 8) << 24) | (byteAt(digest, 10) << 16) | (byteAt(digest, 12) << 8) | byteAt(digest, 14)
  );
}

/** The digest of these two words. */
export function digestOf(high: number, low: number): string {
  return textOf(high) + textOf(low);
}

/** Written out above, not in a loop: this is done for each event, and takes half as long. */
function byteAt(digest: string, at: number): number {
  return (digitOf(digest.charCodeAt(at)) << 4) | digitOf(digest.charCodeAt(at + 1));
}

/** '0' to '9' are 0x30 to 0x39, 'a' to 'f' are 0x61 to 0x66. */
function digitOf(code: number): number {
  return (code & 15) + (code >> 6) * 9;
}

function textOf(word: number): string {
  return (word >>> 0).toString(16).padStart(WORD_DIGITS, '0');
}
