import { isScalar, parseDocument, visit } from 'yaml';
import { duration } from './promql.js';

/** The times of a route in Alertmanager's configuration. */
const TIMES = ['group_wait', 'group_interval', 'repeat_interval'];
const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * An Alertmanager configuration with the times of all routes divided by `factor`, as `scaleDurations` divides those
 * of the rules: a live proof keeps the proportions between scrape, evaluation and grouping.
 * @throws Error for a time that is not a number and a unit
 */
export function scaleRouting(text: string, factor: number): string {
  const file = parseDocument(text);
  visit(file, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !isScalar(value) || !TIMES.includes(String(key.value))) return;
      value.value = duration(toSeconds(String(value.value)) / factor);
    },
  });
  return file.toString({ lineWidth: 0 });
}

/** `90s` → 90. @throws Error for anything but a number and a unit */
export function toSeconds(text: string): number {
  const [, number, unit = ''] = /^(\d+)(ms|[smhd])$/.exec(text) ?? [];
  const seconds = UNIT_SECONDS[unit];
  if (number === undefined || seconds === undefined) throw new Error(`"${text}" is not a time such as 30s`);
  return Number(number) * seconds;
}
