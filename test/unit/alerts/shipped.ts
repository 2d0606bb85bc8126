import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { AlertRule, RecordingRule, RuleGroup } from '../../../alerts/source/rule.js';

/** The folder of the shipped rules. */
export const ALERTS = fileURLToPath(new URL('../../../alerts', import.meta.url));

/** A file below `alerts/`. */
export function readAlertsFile(name: string): string {
  return readFileSync(join(ALERTS, name), 'utf8');
}

/** The shipped alert rules, from their file. */
export function shippedAlerts(): readonly AlertRule[] {
  return groupOf<AlertRule>('alert-rules.yml').rules;
}

/** The one group of a shipped rule file. */
export function groupOf<Rule>(name: string): RuleGroup<Rule> {
  const { groups } = parse(readAlertsFile(name)) as { groups: RuleGroup<Rule>[] };
  const [group] = groups;
  if (!group || groups.length !== 1) throw new Error(`${name} should hold one group`);
  return group;
}

/** Every shipped recording rule. */
export function shippedRecordings(): readonly RecordingRule[] {
  return ['recording-rules.yml', 'recording-rules-daily.yml'].flatMap(
    (name) => groupOf<RecordingRule>(name).rules,
  );
}

/** Names of the files in a folder below `alerts/`. */
export function listAlertsFolder(name: string): string[] {
  return readdirSync(join(ALERTS, name)).sort();
}

/** The alert that a test file proves, or undefined for one that looks at all of them. */
export function alertOfTest(file: string): string | undefined {
  return /^(RedisLock\w+)[.-]/.exec(file)?.[1];
}
