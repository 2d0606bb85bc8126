import { alertRules } from '../../../alerts/source/alert-rules.js';
import { type AlertRule, DEFAULT_OPTIONS } from '../../../alerts/source/rule.js';
import { THRESHOLDS, type Thresholds } from '../../../alerts/source/thresholds.js';
import { parsePromql } from '../../support/promql.js';

/** The rules with one thing changed that some test must notice. */
export interface Mutant {
  readonly name: string;
  /** The alert whose tests must fail. */
  readonly alert: string;
  readonly rules: readonly AlertRule[];
  /** For a resource that does not page, for one that does, or either. */
  readonly page: 'true' | 'false' | 'either';
  /** Which of its tests are enough to look at: what fires when, those with failed scrapes, or the silent ones as well. */
  readonly look: 'firing' | 'all' | 'gaps';
}

/** Numbers where a fifth more or less lies within the same bucket or the same minute of a test. */
const OTHER_FACTORS: Readonly<Record<string, readonly [number, number]>> = {
  acquireWaitSeconds: [0.5, 2],
  renewalsPerHold: [0.5, 2.1],
};

/** Less and more. */
const FACTORS = { durations: [0.5, 2], limits: [0.83, 1.2], floors: [0.9, 1.1] } as const;

/** Changes that no test can tell, each for a reason. */
const UNTOLD: Readonly<Record<string, string>> = {
  'policyWindow more': 'a policy that outlives its exporter for longer changes nothing that fires',
  'RedisLockNotAcquired: no job="redis-lock"':
    'the series is joined by job all the same; the matcher saves reading those of all jobs',
};

/** Each threshold a little lower and a little higher; a test of any alert that it touches must notice. */
export function thresholdMutants(shipped: readonly AlertRule[]): Mutant[] {
  const groups = ['durations', 'limits', 'floors'] as const;
  return groups.flatMap((group) =>
    Object.entries<number>(THRESHOLDS[group]).flatMap(([name, value]) =>
      variants(group, name, value).flatMap(([word, changed]) => {
        const thresholds = {
          ...THRESHOLDS,
          [group]: { ...THRESHOLDS[group], [name]: changed },
        } as Thresholds;
        return `${name} ${word}` in UNTOLD ? [] : changedAlerts(shipped, thresholds, `${name} ${word}`);
      }),
    ),
  );
}

function variants(group: keyof Thresholds, name: string, value: number): [string, number][] {
  if (name === 'bridge') return [['less', 1]];
  const [less, more] = OTHER_FACTORS[name] ?? FACTORS[group];
  const whole = group === 'durations' ? value : Math.round(value);
  // A count changes by one at least: 4 holders for 5, not 4.5.
  const isCount = whole === value && group !== 'durations';
  return [
    ['less', isCount ? Math.min(value - 1, Math.round(value * less)) : value * less],
    ['more', isCount ? Math.max(value + 1, Math.round(value * more)) : value * more],
  ];
}

/** The same mutant once for each alert whose rules the changed threshold touches. */
function changedAlerts(shipped: readonly AlertRule[], thresholds: Thresholds, name: string): Mutant[] {
  const { rules } = alertRules(thresholds, DEFAULT_OPTIONS);
  // Texts name durations; a test of texts would notice any change of them, and prove nothing.
  const mixed = rules.map((rule, n) => ({ ...rule, annotations: shipped[n]?.annotations ?? {} }));
  const touched = mixed.filter((rule, n) => JSON.stringify(rule) !== JSON.stringify(shipped[n]));
  // A policy's window shows where there is a policy; anything else in the rule that pages.
  const page = name.startsWith('policyWindow') ? 'either' : 'true';
  const alerts = [...new Set(touched.map(({ alert }) => alert))];
  return alerts.map((alert) => ({ name, alert, rules: rulesOf(mixed, alert), page, look: lookFor(name) }));
}

/** A bridge shows across a failed scrape, a wait in what fires when; a window or limit may show in any case. */
function lookFor(name: string): Mutant['look'] {
  if (name === 'bridge less') return 'gaps';
  return /(For|Keep) /.test(name) ? 'firing' : 'all';
}

/** Each rule without a part of it: `for`, an annotation, a floor, an exemption, a matcher, a label of an aggregation. */
export function partMutants(shipped: readonly AlertRule[]): Mutant[] {
  return shipped.flatMap((rule, index) =>
    partsRemoved(rule)
      .filter(([part]) => !(`${rule.alert}: ${part}` in UNTOLD))
      .map(([part, changed, look]) => ({
        name: `${rule.alert} (${index}): ${part}`,
        alert: rule.alert,
        page: pageFor(rule, part),
        rules: shipped
          .map((other, n) => (n === index ? changed : other))
          .filter(({ alert }) => alert === rule.alert),
        look,
      })),
  );
}

/** What a policy decides shows where there is one and where there is none. */
function pageFor({ labels }: AlertRule, part: string): Mutant['page'] {
  if (labels.severity !== 'critical' || /page=|expiry=/.test(part)) return 'either';
  return labels.page === 'false' ? 'false' : 'true';
}

type Removed = [part: string, rule: AlertRule, look: Mutant['look']];

function partsRemoved(rule: AlertRule): Removed[] {
  const { for: wait, keep_firing_for: keep, ...rest } = rule;
  return [
    ...(wait === undefined ? [] : [['no for', rest, 'firing'] satisfies Removed]),
    ...(keep === undefined
      ? []
      : [['no keep_firing_for', { ...rest, ...(wait ? { for: wait } : {}) }, 'firing'] satisfies Removed]),
    // promtool compares texts and labels exactly: one of each tells that the test has them.
    ['no description', { ...rule, annotations: without(rule.annotations, 'description') }, 'firing'],
    ['no severity', { ...rule, labels: without(rule.labels, 'severity') }, 'firing'],
    ...expressionsWithoutPart(rule.expr).map(
      ([part, expr, look]): Removed => [part, { ...rule, expr }, look],
    ),
  ];
}

function expressionsWithoutPart(expr: string): [string, string, Mutant['look']][] {
  const tree = parsePromql(expr);
  const operands = tree
    .binaries()
    .filter(({ op }) => op === 'and' || op === 'unless')
    .map(({ op, right }): [string, string, Mutant['look']] => [
      `no ${op} ${right.slice(0, 60)}`,
      expr.replace(new RegExp(`\\n\\s*${op}\\s+(on \\([^)]*\\)\\s+)?${escapeRegex(right)}`), ''),
      'all',
    ]);
  const matchers = tree
    .selectors()
    .flatMap((selector) => selector.matchers)
    .map(({ label, op, value }) => `${label}${op}"${value}"`);
  // Exact labels notice each of them alike, and a lint those of every rule: one stands for all.
  const alike = ['namespace', 'job', 'store', 'le'];
  const labels = new Set(tree.aggregations().flatMap(({ by = [] }) => by));
  for (const label of alike) labels.delete(label);
  return [
    ...operands,
    ...[...new Set(matchers)].map((text): [string, string, Mutant['look']] => [
      `no ${text}`,
      expr.replaceAll(text, ''),
      'all',
    ]),
    ...[...labels].map((label): [string, string, Mutant['look']] => [
      `by without ${label}`,
      withoutLabel(expr, label),
      ['mode', 'instance'].includes(label) ? 'all' : 'firing',
    ]),
  ].filter(([, changed]) => changed !== expr);
}

/** Aggregations that lose a label; matching goes on by the labels that are left. */
function withoutLabel(expr: string, label: string): string {
  return expr.replaceAll(/\b(by|on) \(([^)]*)\)/g, (_, word: string, labels: string) => {
    const kept = labels.split(', ').filter((name) => name !== label);
    return `${word} (${kept.join(', ')})`;
  });
}

function rulesOf(rules: readonly AlertRule[], alert: string): AlertRule[] {
  return rules.filter((rule) => rule.alert === alert);
}

function without(record: Readonly<Record<string, string>>, name: string): Record<string, string> {
  const { [name]: _, ...rest } = record;
  return rest;
}

function escapeRegex(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
