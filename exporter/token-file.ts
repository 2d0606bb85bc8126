import type { Clock } from '../contract/clock.js';
import type { ReadFile } from './redis-settings.js';

/** A changed file is noticed within this; reading it for every request would let a flood of requests read it. */
const READ_EVERY_MS = 2000;

/**
 * Gives the tokens of a file, one a line, read again now and then. A file that cannot be read leaves the last
 * tokens in force.
 */
export function createTokenSource(path: string, readFile: ReadFile, clock: Clock): () => readonly string[] {
  let tokens: readonly string[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monoMs() - readAtMs < READ_EVERY_MS) return tokens;
    readAtMs = clock.monoMs();
    try {
      tokens = tokensOf(readFile(path));
    } catch {
      // The last ones stay: a door that shuts while a file is replaced would drop events.
    }
    return tokens;
  };
}

function tokensOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
