import { describe, expect, it } from 'vitest';
import { ruleFiles, testFiles } from '../../../alerts/source/files.js';
import { DEFAULT_OPTIONS } from '../../../alerts/source/rule.js';
import { scaleDurations, THRESHOLDS } from '../../../alerts/source/thresholds.js';
import { promtool } from '../../support/promtool.js';
import { failedCases, type PromtoolCase } from './promtool-batch.js';
import { ALERTS, alertOfTest, listAlertsFolder, readAlertsFile, shippedAlerts } from './shipped.js';

const RULE_FILES = ['alert-rules.yml', 'recording-rules.yml', 'recording-rules-daily.yml'];

describe('the shipped files', () => {
  it.each(RULE_FILES)('%s is what the generator writes', (name) => {
    expect(readAlertsFile(name)).toBe(ruleFiles().get(name));
  });

  it('the tests of promtool are what the generator writes, and none is left over', () => {
    const shipped = listAlertsFolder('tests').filter((name) => name.startsWith('RedisLock'));
    expect(shipped).toEqual([...testFiles().keys()].map((name) => name.replace('tests/', '')).sort());
    for (const [name, text] of testFiles()) expect(readAlertsFile(name)).toBe(text);
  });

  it('promtool accepts the rules', async () => {
    const { ok, output } = await promtool([
      'check',
      'rules',
      ...RULE_FILES.map((name) => `${ALERTS}/${name}`),
    ]);
    expect(output).not.toContain('FAILED');
    expect(ok).toBe(true);
  });
});

describe('promtool proves', () => {
  const tests = listAlertsFolder('tests');
  const alerts = shippedAlerts();

  /** An alert's tests see its own rules only: the others can't change its outcome, but cost time at every step. */
  const toCase = (name: string): PromtoolCase => {
    const alert = alertOfTest(name);
    const rules = alerts.filter((rule) => alert === undefined || rule.alert === alert);
    return { name, rules, test: readAlertsFile(`tests/${name}`) };
  };

  it('each alert: labels, texts, thresholds, waits, gaps, restarts', { timeout: 120_000 }, async () => {
    const cases = tests.filter((name) => alertOfTest(name) !== undefined).map(toCase);
    expect(cases.length).toBeGreaterThan(40);
    expect(await failedCases(cases)).toEqual([]);
  });

  it('near misses and field cases, with all rules at once', { timeout: 120_000 }, async () => {
    const cases = tests.filter((name) => alertOfTest(name) === undefined).map(toCase);
    expect(cases.length).toBeGreaterThan(10);
    expect(await failedCases(cases)).toEqual([]);
  });
});

describe('rules for a live proof', () => {
  it('have every duration divided by the factor, and the same limits', () => {
    const fast = ruleFiles(scaleDurations(THRESHOLDS, 10), DEFAULT_OPTIONS).get('alert-rules.yml') ?? '';
    expect(fast).toContain('increase(redis_lock_overlaps_total[90s])) > 0');
    expect(fast).toContain('keep_firing_for: 90s');
    expect(fast).toContain('[12s]');
    expect(fast).toContain('> 1.001');
    expect(fast).not.toMatch(/\[15m\]|for: 5m/);
  });
});
