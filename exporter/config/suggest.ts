import { distance } from 'fastest-levenshtein';

/** Longer names are no typing errors; they are not compared, because the comparison's time grows with the length. */
const MAX_COMPARED = 64;

/** ` (did you mean NAME?)` for the nearest known name, or nothing when none is near. */
export function suggest(unknown: string, known: readonly string[]): string {
  if (unknown.length > MAX_COMPARED) return '';
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(unknown.length / 3)) + 1;
  for (const name of known) {
    const steps = distance(unknown, name);
    if (steps < least) [nearest, least] = [name, steps];
  }
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
}
