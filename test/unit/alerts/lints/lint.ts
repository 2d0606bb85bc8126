import type { AlertRule, RecordingRule } from '../../../../alerts/source/rule.js';
import type { KnownFamily } from '../known-families.js';

/** What the lints judge: one shipped pack of rules, or a broken one that proves that a lint can fail. */
export interface Pack {
  readonly alerts: readonly AlertRule[];
  readonly recordings: readonly RecordingRule[];
  readonly families: readonly KnownFamily[];
  /** Runbook pages by their file name. */
  readonly runbooks: ReadonlyMap<string, string>;
  /** Test files of promtool by their file name. */
  readonly tests: ReadonlyMap<string, string>;
}

/** One rule of style: says what is wrong with a pack, or nothing. */
export interface Lint {
  readonly name: string;
  check(pack: Pack): string[];
  /** A pack with the one fault that the lint is for. */
  broken(pack: Pack): Pack;
}

/** The pack with one alert changed. */
export function withAlert(pack: Pack, name: string, change: Partial<AlertRule>): Pack {
  const alerts = pack.alerts.map((rule) => (rule.alert === name ? { ...rule, ...change } : rule));
  return { ...pack, alerts };
}

/** Name and expression of every rule. */
export function expressions(pack: Pack): { name: string; expr: string }[] {
  return [
    ...pack.alerts.map(({ alert, expr }) => ({ name: alert, expr })),
    ...pack.recordings.map(({ record, expr }) => ({ name: record, expr })),
  ];
}
