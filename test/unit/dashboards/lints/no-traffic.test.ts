import { parsePromql } from '../../../support/promql.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/**
 * Without traffic 0/0 is NaN, which a graph shows as a gap or as the text NaN, and a quantile is NaN as well. A
 * divisor is filtered above 0 or cannot be 0, and a quantile is compared: nothing compares with NaN.
 */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr }) => {
    const tree = parsePromql(expr);
    const divisors = tree
      .binaries()
      .filter(({ op, right }) => op === '/' && !isSafe(right))
      .map(({ right }) => `${where}: divides by ${right}, which may be 0`);
    const compared = tree.binaries().filter(({ op, left }) => op === '>=' && startsWithQuantile(left)).length;
    const quantiles = tree.functions().filter((name) => name === 'histogram_quantile').length;
    const bare = quantiles > compared ? [`${where}: a quantile may be NaN`] : [];
    return [...divisors, ...bare];
  });

function startsWithQuantile(text: string): boolean {
  return parsePromql(text).functions()[0] === 'histogram_quantile' && text.startsWith('histogram_quantile');
}

/** A number, something `> 0`, or 1 minus what is capped below 1. */
function isSafe(divisor: string): boolean {
  if (/^[\d.]+$/.test(divisor)) return Number(divisor) > 0;
  const tree = parsePromql(divisor);
  const [outer] = tree.binaries();
  if (outer?.op === '>' && outer.right === '0') return true;
  return outer?.op === '-' && outer.left === '1' && /^clamp_max\(.*, 0\.\d+\)$/s.test(outer.right);
}

// D2: prometheus/prometheus#597; slok/sloth#133; etcd-io/etcd#10629; nuwa-protocol/x402-exec#69: 0/0 with no traffic.
describeLint('no traffic is never NaN (D2)', lint, [
  { what: 'a bare divisor', dashboard: graphOf('sum(rate(a[5m])) / sum(rate(b[5m]))'), fault: 'may be 0' },
  { what: 'a divisor of at least 0', dashboard: graphOf('a / (b >= 0)'), fault: 'may be 0' },
  { what: 'an amplification without a cap', dashboard: graphOf('1 / (1 - a)'), fault: 'may be 0' },
  {
    what: 'a bare quantile',
    dashboard: graphOf('histogram_quantile(0.9, sum by (le) (rate(a_bucket[5m])))'),
    fault: 'a quantile may be NaN',
  },
]);
