import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { AlertRule } from '../../../alerts/source/rule.js';
import { spawnChild } from '../../support/processes.js';
import { requireBinary } from '../../support/require-binary.js';
import { ALERTS, readAlertsFile, shippedAlerts } from './shipped.js';

const FILE = `${ALERTS}/alertmanager.yml`;

interface Inhibition {
  source_matchers: string[];
  target_matchers: string[];
  equal: string[];
}

interface AlertmanagerFile {
  inhibit_rules: Inhibition[];
  receivers: { name: string; webhook_configs?: { send_resolved: boolean }[] }[];
}

const config = () => parse(readAlertsFile('alertmanager.yml')) as AlertmanagerFile;

describe('the example for Alertmanager', () => {
  it('is accepted by amtool', async () => {
    const { code, output } = await amtool(['check-config', FILE]);
    expect(output).toContain('SUCCESS');
    expect(code).toBe(0);
  });

  it('never says "resolved" of something that happened, and says it of what lasts', () => {
    const resolved = Object.fromEntries(
      config().receivers.map(({ name, webhook_configs = [] }) => [name, webhook_configs[0]?.send_resolved]),
    );
    expect(resolved).toEqual({
      'lock-page-events': false,
      'lock-page-states': true,
      'lock-ticket-events': false,
      'lock-tickets': true,
      'lock-notes': false,
      other: undefined,
    });
  });
});

describe('routes', () => {
  it.each([
    ['RedisLockLost', 'true', 'lock-page-events'],
    ['RedisLockLost', 'false', 'lock-ticket-events'],
    ['RedisLockMassLost', 'true', 'lock-page-events'],
    ['RedisLockRedisDown', 'true', 'lock-page-states'],
    ['RedisLockAcquireFailing', 'true', 'lock-page-states'],
    ['RedisLockAcquireFailing', 'false', 'lock-tickets'],
    ['RedisLockReleaseNotOwned', 'false', 'lock-ticket-events'],
    ['RedisLockExporterDown', 'false', 'lock-tickets'],
    ['RedisLockContentionHigh', 'false', 'lock-notes'],
  ])('%s with page=%s goes to %s', async (alert, page, receiver) => {
    const rule = shippedAlerts().find(({ alert: name, labels }) => name === alert && labels.page === page);
    const { severity = '', signal = '' } = rule?.labels ?? {};
    expect(await route({ alertname: alert, severity, page, signal })).toBe(receiver);
  });

  it('leaves the alerts of others alone', async () => {
    expect(await route({ alertname: 'NodeDown', severity: 'critical', page: 'true' })).toBe('other');
  });
});

describe('inhibition', () => {
  const { inhibit_rules } = config();
  const alerts = shippedAlerts();
  const muted = (source: string, target: string) =>
    inhibit_rules.some((rule) => mutes(rule, labelsOf(alerts, source), labelsOf(alerts, target)));

  it.each([
    ['Overlap', 'Lost'],
    ['Overlap', 'ReleaseNotOwned'],
    ['Overlap', 'GhostHolder'],
    ['Lost', 'ReleaseNotOwned'],
    ['Lost', 'GhostHolder'],
    ['MassLost', 'Lost'],
    ['HoldBeyondLease', 'HoldNearLease'],
    ['AcquireFailing', 'AcquireFailureRateHigh'],
    ['AcquireFailureRateHigh', 'ContentionHigh'],
    ['HotLockSaturated', 'HotLockSkew'],
    ['RedisDown', 'AcquireFailing'],
    ['RedisDown', 'AcquireWaitHigh'],
    ['RedisDown', 'RenewalFailures'],
    ['RedisDown', 'SampleStale'],
  ])('%s mutes %s', (source, target) => {
    expect(muted(source, target)).toBe(true);
  });

  it('nothing mutes an overlap, a fence regression or a duplicate', () => {
    const names = new Set(alerts.map(({ alert }) => alert.replace('RedisLock', '')));
    for (const target of ['Overlap', 'FenceRegression', 'DuplicateExecution']) {
      expect([...names].filter((source) => source !== target && muted(source, target))).toEqual([]);
    }
  });

  it.each([
    ['Lost', 'Overlap'],
    ['RedisDown', 'Lost'],
    ['ReleaseNotOwned', 'Lost'],
    ['AcquireFailing', 'HoldNearLease'],
    ['ExporterDown', 'ExporterAbsent'],
  ])('%s does not mute %s', (source, target) => {
    expect(muted(source, target)).toBe(false);
  });

  it('is never across clusters, namespaces or stores', () => {
    for (const { equal } of config().inhibit_rules) {
      expect(equal).toEqual(expect.arrayContaining(['cluster', 'namespace', 'store']));
    }
  });
});

function labelsOf(alerts: readonly AlertRule[], name: string): Record<string, string> {
  const rule = alerts.find(({ alert }) => alert === `RedisLock${name}`);
  if (!rule) throw new Error(`no alert ${name}`);
  return { alertname: rule.alert, ...rule.labels };
}

/** Both alerts are about one resource of one store, so that only the matchers and `subject` decide. */
function mutes(rule: Inhibition, source: Record<string, string>, target: Record<string, string>): boolean {
  const equal = !rule.equal.includes('subject') || source.subject === target.subject;
  return equal && rule.source_matchers.every(fits(source)) && rule.target_matchers.every(fits(target));
}

function fits(labels: Record<string, string>): (matcher: string) => boolean {
  return (matcher) => {
    const [, name = '', op, value = ''] = /^(\w+)(=~|=)"(.*)"$/.exec(matcher) ?? [];
    const actual = labels[name] ?? '';
    return op === '=~' ? new RegExp(`^(?:${value})$`).test(actual) : actual === value;
  };
}

async function route(labels: Record<string, string>): Promise<string> {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const { output } = await amtool(['config', 'routes', 'test', `--config.file=${FILE}`, ...pairs]);
  return output.trim();
}

async function amtool(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = await spawnChild(requireBinary('amtool', 'prometheus-alertmanager'), { args });
  child.endInput();
  const { code } = await child.exited;
  return { code, output: child.stdout.lines.join('\n') };
}
