/** The special characters of Redis's glob patterns. */
const SPECIAL = new Set([...'*?[]\\^-'].map((character) => character.charCodeAt(0)));
const BACKSLASH = '\\'.charCodeAt(0);
const STAR = '*'.charCodeAt(0);

/**
 * The pattern that finds all keys beginning with one of the prefixes in one pass: their common beginning, special
 * characters escaped. It may find more; {@link prefixFilter} has the last word.
 */
export function scanPattern(prefixes: readonly string[]): Buffer {
  const escaped: number[] = [];
  for (const byte of commonBeginning(prefixes.map((prefix) => Buffer.from(prefix)))) {
    if (SPECIAL.has(byte)) escaped.push(BACKSLASH);
    escaped.push(byte);
  }
  return Buffer.from([...escaped, STAR]);
}

/**
 * Whether a key begins with one of the prefixes, byte for byte. The key comes as a string with one character per
 * byte (`latin1`), which costs no copy where it is kept as such anyway.
 */
export function prefixFilter(prefixes: readonly string[]): (keyBytes: string) => boolean {
  const wanted = prefixes.map((prefix) => Buffer.from(prefix).toString('latin1'));
  return (keyBytes) => wanted.some((prefix) => keyBytes.startsWith(prefix));
}

function commonBeginning(texts: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(0), ...others] = texts;
  let length = first.length;
  for (const other of others) {
    let same = 0;
    while (same < Math.min(length, other.length) && other[same] === first[same]) same += 1;
    length = same;
  }
  return first.subarray(0, length);
}
