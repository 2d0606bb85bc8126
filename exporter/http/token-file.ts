import type { Clock } from '../../contract/clock.js';
import type { TokenSource } from './guard.js';

/** A changed file is noticed within this; reading it for every request would let a flood of requests read it. */
const READ_EVERY_MS = 2000;

/**
 * Gives the tokens of a file, one a line, read again now and then. A file that cannot be read, or holds none, leaves
 * the last tokens in force.
 */
export function createTokenSource(
  path: string,
  readFile: (path: string) => string,
  clock: Pick<Clock, 'monoMs'>,
): TokenSource {
  let tokens: readonly string[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monoMs() - readAtMs < READ_EVERY_MS) return tokens;
    readAtMs = clock.monoMs();
    const fresh = readTokens(path, readFile);
    // A file that is being replaced must not shut the door: that would drop events. To revoke, write other tokens.
    if (fresh.length > 0) tokens = fresh;
    return tokens;
  };
}

function readTokens(path: string, readFile: (path: string) => string): string[] {
  try {
    return tokensOf(readFile(path));
  } catch {
    return [];
  }
}

function tokensOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
