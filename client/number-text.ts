import { MAX_DURATION_MS } from '../contract/event.js';

// Numbers of events as text, from tables. Left to String(), the eight numbers of an event, most of them with a
// fraction or of 16 digits, take more time than all the rest of it: 0.15 to 0.24 µs each against 0.03 to 0.05.

/** '000' to '999'. */
const THREE_DIGITS = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'));
/** Thousandths without zeros at the end: '' for 0, '.001' for 1, '.1' for 100. */
const THOUSANDTHS = THREE_DIGITS.map((digits) => (digits === '000' ? '' : `.${digits.replace(/0+$/, '')}`));
/** Above it, nothing is a small integer to V8 any more. */
const MAX_SMALL_US = 1_000_000_000;

/** A duration in ms within the contract's range, to the µs: more digits are noise and cost bytes. */
export function durationText(ms: number): string {
  const us = Math.round(Math.min(Math.max(ms, 0), MAX_DURATION_MS) * 1000);
  // NaN is not below it either.
  if (!(us < MAX_SMALL_US)) return numberText(us / 1000);
  const wholeMs = Math.trunc(us / 1000);
  return `${wholeMs}${THOUSANDTHS[us - wholeMs * 1000]}`;
}

/** A time in whole ms since the epoch. */
export function timeMsText(atMs: number): string {
  const second = Math.trunc(atMs / 1000);
  const rest = THREE_DIGITS[atMs - second * 1000];
  return second > 0 && rest !== undefined ? `${second}${rest}` : numberText(atMs);
}

/** A time in whole µs since the epoch. */
export function timeUsText(atUs: number): string {
  const second = Math.trunc(atUs / 1_000_000);
  const restUs = atUs - second * 1_000_000;
  const restMs = Math.trunc(restUs / 1000);
  const [ms, us] = [THREE_DIGITS[restMs], THREE_DIGITS[restUs - restMs * 1000]];
  return second > 0 && us !== undefined ? `${second}${ms}${us}` : numberText(atUs);
}

/** As JSON has it: what is no number costs its own event, and not the whole batch. */
function numberText(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}
