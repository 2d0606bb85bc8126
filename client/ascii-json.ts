const BEYOND_ASCII = /[\u0080-\uffff]/g;

/** JSON in ASCII alone: other characters escaped, those beyond U+FFFF as two. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    BEYOND_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
