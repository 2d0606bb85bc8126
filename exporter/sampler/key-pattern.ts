import { FENCE_MARKER } from '../../lua/fence-key.js';

/** Which keys are locks: those that begin with one of the prefixes, byte for byte, and are no fence key. */
export interface LockKeys {
  /** Pattern of SCAN MATCH that finds all of them in one pass, and few others. */
  readonly pattern: Buffer;
  /** The prefixes; none begins with another. */
  readonly prefixes: readonly Buffer[];
  /** Whether the pattern finds the keys of the prefixes and no others, so that nobody need look again. */
  readonly exact: boolean;
  /** Whether a key is one. It comes with one character per byte (`latin1`), which costs no copy where it is kept as such anyway. */
  matches(keyBytes: string): boolean;
}

/** The special characters of Redis's glob patterns. */
const SPECIAL = new Set([...'*?[]\\^-'].map((character) => character.charCodeAt(0)));
const STAR = '*'.charCodeAt(0);
const [OPEN, CLOSE, BACKSLASH] = ['['.charCodeAt(0), ']'.charCodeAt(0), '\\'.charCodeAt(0)];

/** @param prefixes at least one, none empty; literal */
export function lockKeys(prefixes: readonly string[]): LockKeys {
  const bytes = withoutLonger(prefixes.map((prefix) => Buffer.from(prefix)));
  const wanted = bytes.map((prefix) => prefix.toString('latin1'));
  return {
    pattern: scanPattern(bytes),
    prefixes: bytes,
    exact: bytes.length === 1,
    matches: (keyBytes) =>
      wanted.some((prefix) => keyBytes.startsWith(prefix)) && !keyBytes.includes(FENCE_MARKER),
  };
}

/** A prefix that begins with another finds nothing that the other does not. */
function withoutLonger(prefixes: readonly Buffer[]): Buffer[] {
  return prefixes.filter(
    (prefix, at) =>
      !prefixes.some((other, index) => {
        const begins = prefix.subarray(0, other.length).equals(other);
        return begins && (other.length < prefix.length || index < at);
      }),
  );
}

/**
 * As far as all prefixes reach, one byte of each at every place: `[lb][ou][cl][kl]:*` for `lock:` and `bull:`. So
 * the server itself leaves out nearly all other keys in one pass, at no cost for each key left out.
 */
function scanPattern(prefixes: readonly Buffer[]): Buffer {
  const length = Math.min(...prefixes.map((prefix) => prefix.length));
  const places = Array.from({ length }, (_, at) => [
    ...new Set(prefixes.flatMap((prefix) => prefix[at] ?? [])),
  ]);
  return Buffer.from([...places.flatMap(placePattern), STAR]);
}

function placePattern(bytes: readonly number[]): number[] {
  const escaped = bytes.flatMap((byte) => (SPECIAL.has(byte) ? [BACKSLASH, byte] : [byte]));
  return bytes.length === 1 ? escaped : [OPEN, ...escaped, CLOSE];
}
