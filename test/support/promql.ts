import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** One matcher of a selector: `job=~"a|b"`. */
export interface PromqlMatcher {
  label: string;
  op: '=' | '!=' | '=~' | '!~';
  /** Unquoted. */
  value: string;
}

/** One vector or matrix selector. */
export interface PromqlSelector {
  /** The metric's name as written, or '' when a selector has none. */
  name: string;
  matchers: PromqlMatcher[];
  /** The window as written, such as `5m` or `$__rate_interval`; only on a range selector. */
  range?: string;
  /** Functions and aggregations around it, the innermost first: `rate`, then `sum`. */
  within: string[];
}

/** One aggregation, such as `sum by (store)`. */
export interface PromqlAggregation {
  op: string;
  by?: string[];
  without?: string[];
  /** The aggregated expression, as written. */
  body: string;
}

/** One binary operation with its operands as written. */
export interface PromqlBinary {
  /** `+`, `/`, `>`, `and`, … */
  op: string;
  bool: boolean;
  on?: string[];
  ignoring?: string[];
  left: string;
  right: string;
}

/** What the lints ask of a query, answered from its parse tree and never from its text. */
export interface PromqlTree {
  readonly text: string;
  /** Every selector, in the order of the text. */
  selectors(): PromqlSelector[];
  /** Names of the functions called, aggregations not among them, in the order of the text; repeated if called again. */
  functions(): string[];
  aggregations(): PromqlAggregation[];
  binaries(): PromqlBinary[];
  /** Subqueries, as written: `[10m:1m]` is what makes an expression one. */
  subqueries(): string[];
  /** True when the result is filtered by a comparison: `a > b`, the left of `and`/`unless`, both sides of `or`. */
  topIsComparison(): boolean;
  /** Where the text is no PromQL, as `position: text`; empty for a good query. */
  errors(): string[];
}

const COMPARISONS = new Set(['==', '!=', '>', '<', '>=', '<=']);
const OPERATOR_NODES = new Set([
  ...['Pow', 'Mul', 'Div', 'Mod', 'Add', 'Sub', 'Atan2'],
  ...['Eql', 'Neq', 'Gtr', 'Lss', 'Gte', 'Lte', 'And', 'Or', 'Unless'],
]);

/**
 * Parses PromQL with Prometheus's own editor grammar. Variables of Grafana outside of quotes (`$__rate_interval`,
 * `${top}`) are read as a number or duration, and come back in ranges as written.
 */
export function parsePromql(text: string): PromqlTree {
  const root = parser.parse(withoutVariables(text)).topNode;
  const slice = (node: SyntaxNode) => text.slice(node.from, node.to);
  const all = (name: string) => descendants(root).filter((node) => node.name === name);
  return {
    text,
    selectors: () => all('VectorSelector').map((node) => toSelector(node, slice)),
    functions: () => all('FunctionIdentifier').map(slice),
    aggregations: () => all('AggregateExpr').map((node) => toAggregation(node, slice)),
    binaries: () => all('BinaryExpr').map((node) => toBinary(node, slice)),
    subqueries: () => all('SubqueryExpr').map(slice),
    topIsComparison: () => isComparison(root.firstChild, slice),
    errors: () => errorsOf(root, text),
  };
}

type Slice = (node: SyntaxNode) => string;

/** Replaces each variable by a duration of the same length, so that every position still fits the text. */
function withoutVariables(text: string): string {
  const stringsOrVariables = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|\$\{[^}]*\}|\$\w+/g;
  return text.replace(stringsOrVariables, (part) =>
    part.startsWith('$') ? '1m'.padStart(part.length, '0') : part,
  );
}

function descendants(root: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  root.cursor().iterate((node) => {
    found.push(node.node);
  });
  return found;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

function toSelector(node: SyntaxNode, slice: Slice): PromqlSelector {
  const matchers = node.getChild('LabelMatchers');
  const plain = node.getChild('Identifier');
  const quoted = matchers?.getChild('QuotedLabelName');
  const parsed = matchers ? childrenOf(matchers).flatMap((child) => toMatcher(child, slice)) : [];
  const named = parsed.find(({ label, op }) => label === '__name__' && op === '=')?.value;
  const range = rangeOf(node, slice);
  return {
    name: plain ? slice(plain) : quoted ? unquote(slice(quoted)) : (named ?? ''),
    matchers: parsed.filter(({ label }) => label !== '__name__'),
    ...(range === undefined ? {} : { range }),
    within: wrappersOf(node, slice),
  };
}

function toMatcher(node: SyntaxNode, slice: Slice): PromqlMatcher[] {
  const [label, op, value] = childrenOf(node);
  if (!label || !op || !value) return [];
  return [
    { label: unquote(slice(label)), op: slice(op) as PromqlMatcher['op'], value: unquote(slice(value)) },
  ];
}

function rangeOf(node: SyntaxNode, slice: Slice): string | undefined {
  const matrix = node.parent;
  const duration = matrix?.name === 'MatrixSelector' ? matrix.lastChild : undefined;
  return duration ? slice(duration).trim() : undefined;
}

function wrappersOf(node: SyntaxNode, slice: Slice): string[] {
  const names: string[] = [];
  for (let parent = node.parent; parent; parent = parent.parent) {
    const name = parent.getChild('FunctionIdentifier') ?? parent.getChild('AggregateOp');
    if (name) names.push(slice(name));
  }
  return names;
}

function toAggregation(node: SyntaxNode, slice: Slice): PromqlAggregation {
  const op = node.getChild('AggregateOp');
  const body = node.getChild('FunctionCallBody');
  const modifier = node.getChild('AggregateModifier');
  const labels = modifier ? labelsOf(modifier.getChild('GroupingLabels'), slice) : undefined;
  return {
    op: op ? slice(op).toLowerCase() : '',
    ...(labels === undefined ? {} : modifier?.getChild('By') ? { by: labels } : { without: labels }),
    body: body ? slice(body).slice(1, -1).trim() : '',
  };
}

function toBinary(node: SyntaxNode, slice: Slice): PromqlBinary {
  const children = childrenOf(node);
  const operator = children.find(({ name }) => OPERATOR_NODES.has(name));
  const matching = node.getChild('MatchingModifierClause');
  const labels = matching ? labelsOf(matching.getChild('GroupingLabels'), slice) : undefined;
  return {
    op: operator ? slice(operator).toLowerCase() : '',
    bool: node.getChild('BoolModifier') !== null,
    ...(labels === undefined ? {} : matching?.getChild('On') ? { on: labels } : { ignoring: labels }),
    left: node.firstChild ? slice(node.firstChild) : '',
    right: node.lastChild ? slice(node.lastChild) : '',
  };
}

function labelsOf(grouping: SyntaxNode | null, slice: Slice): string[] {
  return grouping ? childrenOf(grouping).map((label) => unquote(slice(label))) : [];
}

function isComparison(node: SyntaxNode | null, slice: Slice): boolean {
  if (node?.name === 'ParenExpr') return isComparison(node.firstChild, slice);
  if (node?.name !== 'BinaryExpr') return false;
  const { op, bool } = toBinary(node, slice);
  if (COMPARISONS.has(op)) return !bool;
  if (op === 'and' || op === 'unless') return isComparison(node.firstChild, slice);
  return op === 'or' && isComparison(node.firstChild, slice) && isComparison(node.lastChild, slice);
}

function errorsOf(root: SyntaxNode, text: string): string[] {
  return descendants(root)
    .filter(({ type }) => type.isError)
    .map(({ from }) => `${from}: ${text.slice(Math.max(0, from - 20), from + 20)}`);
}

function unquote(text: string): string {
  const quote = text[0];
  if (quote === '`') return text.slice(1, -1);
  if (quote !== '"' && quote !== "'") return text;
  return text.slice(1, -1).replace(/\\(.)/g, '$1');
}
