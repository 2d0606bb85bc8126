import { readFileSync, statSync } from 'node:fs';

/** Largest file of settings, tokens, passwords or certificates. */
const MAX_BYTES = 1_048_576;

/**
 * The text of a file. Refuses what is no regular file: a pipe could be read once only, though tokens and passwords are
 * read again, and a pipe without a writer would hold up the whole process.
 *
 * @throws Error with a `code` that says in words what is wrong, or Node's own
 */
export function readRegularFile(path: string): string {
  const stat = statSync(path);
  if (!stat.isFile()) throw Object.assign(new Error('not a regular file'), { code: 'it is no regular file' });
  if (stat.size > MAX_BYTES) throw Object.assign(new Error('too large'), { code: 'it is larger than 1 MiB' });
  return readFileSync(path, 'utf8');
}
