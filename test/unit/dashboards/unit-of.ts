import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { substitute } from '../../support/panel-queries.js';
import { familyOf, ruleOf } from './families.js';

/**
 * What a query measures: powers of seconds, bytes and things. A ratio has none of them; a number fits anything. A
 * time of the clock is apart: only the difference of two is a duration.
 */
export type Measure =
  | { readonly s: number; readonly bytes: number; readonly things: number }
  | 'number'
  | 'time';

const NOTHING = { s: 0, bytes: 0, things: 0 };
const SECONDS = { ...NOTHING, s: 1 };
const THINGS = { ...NOTHING, things: 1 };
const PER_SECOND = { ...NOTHING, s: -1 };

/** @throws Error that says which parts do not fit together, or which function is not known here. */
export function measureOf(expr: string): Measure {
  const text = substitute(expr, { rateInterval: '5m', range: '6h' });
  const top = parser.parse(text).topNode.firstChild;
  if (!top) throw new Error('an empty query');
  return measure(top, text);
}

function measure(node: SyntaxNode, text: string): Measure {
  const first = (parent: SyntaxNode | null) => {
    if (!parent?.firstChild) throw new Error(`nothing in ${parent?.name ?? 'nothing'}`);
    return parent.firstChild;
  };
  switch (node.name) {
    case 'NumberDurationLiteral':
      return 'number';
    case 'VectorSelector':
      return ofSeries(text.slice(node.from, node.to).split('{')[0] ?? '');
    case 'ParenExpr':
    case 'MatrixSelector':
    case 'OffsetExpr':
      return measure(first(node), text);
    case 'AggregateExpr':
      return ofAggregate(node, text);
    case 'FunctionCall':
      return ofCall(node, text);
    case 'BinaryExpr':
      return ofBinary(node, text);
    default:
      throw new Error(`${node.name} is not known here`);
  }
}

function ofSeries(name: string): Measure {
  const rule = name.includes(':') ? ruleOf(name) : undefined;
  if (rule !== undefined) return measureOf(rule);
  const family = familyOf(name);
  if (!family) throw new Error(`no family ${name}`);
  if (family.type === 'histogram' && !name.endsWith('_sum')) return THINGS;
  switch (family.unit) {
    case 'seconds':
      return SECONDS;
    case 'bytes':
      return { ...NOTHING, bytes: 1 };
    case 'count':
      return THINGS;
    case 'timestamp_seconds':
      return 'time';
    case 'ratio':
    case 'boolean':
    case 'info':
      return NOTHING;
  }
}

function ofAggregate(node: SyntaxNode, text: string): Measure {
  const op = node.getChild('AggregateOp');
  if (op && text.slice(op.from, op.to) === 'count') return THINGS;
  return measure(lastArgument(node), text);
}

function ofCall(node: SyntaxNode, text: string): Measure {
  const identifier = node.getChild('FunctionIdentifier');
  const name = identifier ? text.slice(identifier.from, identifier.to) : '';
  switch (name) {
    case 'time':
      return 'time';
    case 'rate':
      return times(measure(lastArgument(node), text), PER_SECOND);
    case 'changes':
      return THINGS;
    case 'histogram_quantile':
      return measureOfBuckets(textOf(lastArgument(node), text));
    case 'clamp_max':
    case 'clamp_min':
      return measure(firstArgument(node), text);
    case 'increase':
    case 'sum_over_time':
    case 'max_over_time':
    case 'avg_over_time':
    case 'last_over_time':
      return measure(lastArgument(node), text);
    default:
      throw new Error(`${name}() is not known here`);
  }
}

/** What was observed in the buckets that a query names. */
export function measureOfBuckets(expr: string): Measure {
  const [, name = '', tail = ''] = /(redis_lock_\w+|nodejs_\w+?)_bucket(\w*)/.exec(expr) ?? [];
  return ofSeries(`${name}_sum${tail}`);
}

function textOf(node: SyntaxNode, text: string): string {
  return text.slice(node.from, node.to);
}

function ofBinary(node: SyntaxNode, text: string): Measure {
  const { firstChild: left, lastChild: right } = node;
  if (!left || !right) throw new Error('an operation without a side');
  const [a, b] = [measure(left, text), measure(right, text)];
  const op = left.nextSibling?.name ?? '';
  switch (op) {
    case 'Mul':
      return times(a, b);
    case 'Div':
      return times(a, inverse(b));
    case 'And':
    case 'Unless':
      return a;
    case 'Sub':
      if (a === 'time' && b === 'time') return SECONDS;
      return same(a, b);
    default:
      return same(a, b);
  }
}

function same(a: Measure, b: Measure): Measure {
  if (a === 'number') return b;
  if (b === 'number' || JSON.stringify(a) === JSON.stringify(b)) return a;
  throw new Error(`${JSON.stringify(a)} and ${JSON.stringify(b)} do not fit`);
}

function times(a: Measure, b: Measure): Measure {
  if (a === 'number') return b;
  if (b === 'number') return a;
  if (a === 'time' || b === 'time') throw new Error('a time of the clock is multiplied');
  return { s: a.s + b.s, bytes: a.bytes + b.bytes, things: a.things + b.things };
}

function inverse(measured: Measure): Measure {
  if (measured === 'number' || measured === 'time') return measured;
  const { s, bytes, things } = measured;
  // Adding 0 turns -0 into 0.
  return { s: -s + 0, bytes: -bytes + 0, things: -things + 0 };
}

function argumentsOf(node: SyntaxNode): SyntaxNode[] {
  const body = node.getChild('FunctionCallBody');
  const found: SyntaxNode[] = [];
  for (let child = body?.firstChild ?? null; child; child = child.nextSibling) found.push(child);
  return found;
}

function firstArgument(node: SyntaxNode): SyntaxNode {
  const [first] = argumentsOf(node);
  if (!first) throw new Error('a call without arguments');
  return first;
}

function lastArgument(node: SyntaxNode): SyntaxNode {
  const last = argumentsOf(node).at(-1);
  if (!last) throw new Error('a call without arguments');
  return last;
}
