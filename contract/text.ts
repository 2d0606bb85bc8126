/** Characters that no name may hold, as the inside of a regular expression's class: they break lines, logs and terminals. */
export const CONTROL_CHARACTERS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';

/** Matches text of at least one character without any of {@link CONTROL_CHARACTERS}. */
export function plainTextPattern(): RegExp {
  return new RegExp(`^[^${CONTROL_CHARACTERS}]+$`);
}
