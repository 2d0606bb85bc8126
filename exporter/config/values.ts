import { bad, good, type Reader } from './reading.js';

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/**
 * A duration such as `250ms`, `60s`, `1.5m`, `1h`, in milliseconds. The unit is required, so that nobody has to
 * guess it; the result is a whole number of milliseconds within the range, ends included.
 */
export function durationReader(minMs: number, maxMs: number): Reader<number> {
  return (text) => {
    const [, digits, unit] = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h)$/.exec(text) ?? [];
    const factor = UNIT_MS.get(unit ?? '');
    if (digits === undefined || factor === undefined) {
      return bad('must be a number with a unit ms, s, m or h, such as 60s or 250ms');
    }
    const ms = Math.round(Number(digits) * factor);
    if (ms < minMs || ms > maxMs)
      return bad(`must be from ${writeDuration(minMs)} to ${writeDuration(maxMs)}`);
    return good(ms);
  };
}

/** A duration as it may be written in an option: the largest unit that gives a whole number. */
export function writeDuration(ms: number): string {
  if (ms === 0) return '0s';
  for (const [unit, factor] of [...UNIT_MS].reverse()) {
    if (ms % factor === 0) return `${ms / factor}${unit}`;
  }
  return `${ms}ms`;
}

/** A share such as `1%`, as a fraction. The percent sign is required: a bare `1` could mean all or a hundredth. */
export function shareReader(minPercent: number, maxPercent: number): Reader<number> {
  return (text) => {
    const [, digits] = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text) ?? [];
    if (digits === undefined) return bad('must be a percentage, such as 1% or 0.5%');
    const percent = Number(digits);
    if (percent < minPercent || percent > maxPercent) {
      return bad(`must be from ${minPercent}% to ${maxPercent}%`);
    }
    return good(percent / 100);
  };
}

/** One of a few words. `later` names words that are understood but not built yet, with what to use instead. */
export function choiceReader<const C extends string>(
  choices: readonly C[],
  later: Readonly<Record<string, string>> = {},
): Reader<C> {
  return (text) => {
    const chosen = choices.find((choice) => choice === text);
    if (chosen !== undefined) return good(chosen);
    if (Object.hasOwn(later, text)) return bad(`${text} is not in this version: ${later[text]}`);
    return bad(`must be ${listWords(choices)}`);
  };
}

/** `true` or `false`, nothing else: no guess what `1`, `yes` or `on` might mean. */
export function readSwitch(text: string): ReturnType<Reader<boolean>> {
  if (text === 'true') return good(true);
  if (text === 'false') return good(false);
  return bad('must be true or false');
}

/** Text with a length in bytes from 1 to `maxBytes`, without a zero byte. */
export function textReader(maxBytes: number): Reader<string> {
  return (text) => {
    if (text === '') return bad('must not be empty');
    if (text.includes('\0')) return bad('must not hold a zero byte');
    if (Buffer.byteLength(text) > maxBytes) return bad(`must have at most ${maxBytes} bytes`);
    return good(text);
  };
}

/** `a`, `a or b`, `a, b or c`. */
export function listWords(words: readonly string[], last = 'or'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
