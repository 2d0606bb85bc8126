import { stringify } from 'yaml';
import { alertRules } from './alert-rules.js';
import { proofFiles } from './proofs/proofs.js';
import { dailyRules, recordingRules } from './recording-rules.js';
import { DEFAULT_OPTIONS, type RuleGroup, type RuleOptions } from './rule.js';
import { THRESHOLDS, type Thresholds } from './thresholds.js';

const HEADER = '# Generated from alerts/source/ by `npm run alerts`; the tests compare. Do not edit.\n';

/**
 * Every rule file by its name in `alerts/`, as text.
 * @param hour seconds that an hour of the daily figures takes; for live proofs
 */
export function ruleFiles(
  thresholds: Thresholds = THRESHOLDS,
  options: RuleOptions = DEFAULT_OPTIONS,
  hour?: number,
): Map<string, string> {
  return new Map([
    ['alert-rules.yml', toYaml(alertRules(thresholds, options))],
    ['recording-rules.yml', toYaml(recordingRules(options))],
    ['recording-rules-daily.yml', toYaml(dailyRules(hour))],
  ]);
}

/** One rule file with one group. */
export function toYaml(group: RuleGroup<object>): string {
  return HEADER + stringify({ groups: [group] }, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The unit tests for promtool, by their names in `alerts/`; they prove the shipped values, no others. */
export function testFiles(): Map<string, string> {
  const { rules } = alertRules(THRESHOLDS, DEFAULT_OPTIONS);
  return new Map([...proofFiles(rules)].map(([name, text]) => [`tests/${name}`, text]));
}
