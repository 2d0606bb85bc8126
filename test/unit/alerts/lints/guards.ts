import { parsePromql } from '../../../support/promql.js';
import { type Lint, withAlert } from './lint.js';

/**
 * A ratio or quantile that alerts has a floor of traffic; a divisor is `> 0`; a numerator that may lack its series is
 * 0 then. What divides a family by itself can't lack it.
 */
export const guards: Lint = {
  name: 'guards',
  check: ({ alerts, recordings }) => [
    ...alerts.flatMap(({ alert, expr }) => [...floor(alert, expr), ...division(alert, expr)]),
    ...recordings.flatMap(({ record, expr }) => division(record, expr)),
  ],
  broken: (pack) =>
    withAlert(pack, 'RedisLockAcquireFailing', {
      expr: 'sum by (store) (rate(redis_lock_acquire_failures_total[5m])) / sum by (store) (rate(redis_lock_acquire_total[5m])) > 0.5',
    }),
};

function floor(name: string, expr: string): string[] {
  const tree = parsePromql(expr);
  const judged =
    tree.binaries().some(({ op }) => op === '/') || tree.functions().includes('histogram_quantile');
  const floors = tree.binaries().filter(({ op, right }) => op === '>=' && /^\d+$/.test(right));
  return judged && floors.length === 0 ? [`${name}: a ratio or quantile without a floor of traffic`] : [];
}

function division(name: string, expr: string): string[] {
  const divisions = parsePromql(expr)
    .binaries()
    .filter(({ op }) => op === '/');
  return divisions.flatMap(({ left, right }) => [
    ...(/> 0\s*\)$/.test(right) ? [] : [`${name}: a divisor may be 0`]),
    ...(isFilled(left) || names(left).every((part) => names(right).some((other) => sameFamily(part, other)))
      ? []
      : [`${name}: the numerator may lack its series`]),
  ]);
}

function isFilled(numerator: string): boolean {
  return parsePromql(numerator)
    .binaries()
    .some(({ op, right }) => op === 'or' && right.startsWith('0 *'));
}

function names(expr: string): string[] {
  return parsePromql(expr)
    .selectors()
    .map(({ name }) => name);
}

function sameFamily(a: string, b: string): boolean {
  return a.replace(/_sum$/, '') === b.replace(/_count$/, '');
}
