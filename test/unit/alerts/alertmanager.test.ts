import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { toSeconds } from '../../../alerts/source/routing.js';
import { THRESHOLDS } from '../../../alerts/source/thresholds.js';
import { spawnChild } from '../../support/processes.js';
import { requireBinary } from '../../support/require-binary.js';
import { type Inhibition, labelsOf, mutes, outlivedMutes } from './inhibition.js';
import { ALERTS, groupOf, readAlertsFile, shippedAlerts } from './shipped.js';

const FILE = `${ALERTS}/alertmanager.yml`;

interface Route {
  receiver: string;
  group_by?: string[];
  group_wait?: string;
  routes?: Route[];
}

interface AlertmanagerFile {
  route: Route;
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
      nobody: undefined,
      other: undefined,
    });
  });
});

describe('routes', () => {
  const leaves = ({ routes = [], ...route }: Route): Route[] => [route, ...routes.flatMap(leaves)];
  const routes = leaves(config().route);

  it('a page is out within two scrape intervals of 15 s: one to see it, the other to evaluate and to wait for what mutes it', () => {
    const evaluation = toSeconds(groupOf('alert-rules.yml').interval ?? '1m');
    expect(evaluation).toBe(THRESHOLDS.durations.evaluation);
    for (const { receiver, group_wait = '30s' } of routes.filter(({ receiver }) => /page/.test(receiver))) {
      expect(evaluation + toSeconds(group_wait), receiver).toBeLessThan(15);
      expect(toSeconds(group_wait), receiver).toBeGreaterThan(evaluation);
    }
  });

  it('an event that ends and happens again is told again, whatever else goes on: each alert is a group of its own', () => {
    const events = routes.filter(({ receiver }) => receiver.endsWith('-events'));
    expect(events.map(({ receiver }) => receiver)).toEqual(['lock-page-events', 'lock-ticket-events']);
    for (const { group_by } of events)
      expect(group_by).toEqual(expect.arrayContaining(['resource', 'alertname']));
  });

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
    ['RedisLockRedisWasDown', 'false', 'nobody'],
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
    ['RedisWasDown', 'AcquireFailing'],
    ['RedisWasDown', 'AcquireFailureRateHigh'],
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
    ['RedisWasDown', 'RedisDown'],
    ['ReleaseNotOwned', 'Lost'],
    ['AcquireFailing', 'HoldNearLease'],
    ['ExporterDown', 'ExporterAbsent'],
  ])('%s does not mute %s', (source, target) => {
    expect(muted(source, target)).toBe(false);
  });

  it('ends after what it mutes: no old fault comes up as news', () => {
    expect(outlivedMutes(alerts, inhibit_rules)).toEqual([]);
  });

  it.each([
    ['Lost', 'RedisLockLost ends before RedisLockReleaseNotOwned'],
    ['MassLost', 'RedisLockMassLost ends before RedisLockLost'],
    ['RedisWasDown', 'RedisLockRedisWasDown ends before RedisLockAcquireFailureRateHigh'],
  ])('would be found to end too early if %s did not keep firing so long', (name, fault) => {
    const shorter = alerts.map((rule) =>
      rule.alert === `RedisLock${name}` ? { ...rule, keep_firing_for: '9m' } : rule,
    );
    expect(outlivedMutes(shorter, inhibit_rules)).toContain(fault);
  });

  it('is never across clusters, namespaces or stores', () => {
    for (const { equal } of config().inhibit_rules) {
      expect(equal).toEqual(expect.arrayContaining(['cluster', 'namespace', 'store']));
    }
  });
});

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
