import type { Clock } from '../../contract/clock.js';

/** Levels from the least to the most important. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts beside a message. Never a secret, a token or a full key. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes what happened. Messages are fixed texts, so that they can be searched for; what varies is in the fields. */
export type Log = { readonly [L in LogLevel]: (msg: string, fields?: LogFields) => void };

/**
 * Makes a log that hands each entry to `write` as one line of JSON with `time`, `level`, `msg` and the fields.
 * Entries below `level` are not written.
 */
export function createLog(level: LogLevel, write: (line: string) => void, clock: Pick<Clock, 'wallMs'>): Log {
  const least = LOG_LEVELS.indexOf(level);
  const entry = (of: LogLevel) => (msg: string, fields: LogFields) => {
    if (LOG_LEVELS.indexOf(of) < least) return;
    const time = new Date(clock.wallMs()).toISOString();
    write(`${JSON.stringify({ time, level: of, msg, ...fields })}\n`);
  };
  const at = (of: LogLevel) => {
    const writeEntry = entry(of);
    return (msg: string, fields: LogFields = {}) => writeEntry(msg, fields);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
