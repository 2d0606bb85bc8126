/** What became of a text: a value, or a fault in words that follow "<option> " and never repeat the text when it may hold a secret. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: string };

/** Reads one option's text. Pure. */
export type Reader<T> = (text: string) => Reading<T>;

/** A good reading. */
export function good<T>(value: T): Reading<T> {
  return { ok: true, value };
}

/** A fault; it reads on after the option's name: `must be …`. */
export function bad(fault: string): Reading<never> {
  return { ok: false, fault };
}
