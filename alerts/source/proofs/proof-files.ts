import { stringify } from 'yaml';
import {
  type Line,
  MINUTES,
  ONSET,
  toNotation,
  withGap,
  withoutLabel,
  withoutTraffic,
  withRestart,
} from './lines.js';
import { policyLine } from './policy-line.js';
import type { Proof } from './proof.js';

/** Where the shipped rules say pages and dashboards are. */
const RUNBOOKS = 'https://runbooks.example.com/redis-lock';
const GRAFANA = 'https://grafana.example.com/d';

const SCOPES = {
  resource: {
    labels: { cluster: 'eu1', namespace: 'shop', job: 'redis-lock', store: 'main', resource: 'stock' },
    says: 'Lock resource stock in store main (job redis-lock)',
    dashboard: `${GRAFANA}/redis-lock-resource?var-cluster=eu1&var-namespace=shop&var-job=redis-lock&var-store=main&var-resource=stock`,
  },
  store: {
    labels: { cluster: 'eu1', namespace: 'shop', job: 'redis-lock', store: 'main' },
    says: 'Store main (job redis-lock)',
    dashboard: `${GRAFANA}/redis-lock-overview?var-cluster=eu1&var-namespace=shop&var-job=redis-lock&var-store=main`,
  },
  job: {
    labels: { cluster: 'eu1', namespace: 'shop', job: 'redis-lock' },
    says: 'Job redis-lock',
    dashboard: `${GRAFANA}/redis-lock-exporter?var-cluster=eu1&var-namespace=shop&var-job=redis-lock`,
  },
  instance: {
    labels: { cluster: 'eu1', namespace: 'shop', job: 'redis-lock', instance: '10.0.0.1:9722' },
    says: 'Exporter 10.0.0.1:9722 (job redis-lock)',
    dashboard: `${GRAFANA}/redis-lock-exporter?var-cluster=eu1&var-namespace=shop&var-job=redis-lock&var-instance=10.0.0.1%3A9722`,
  },
  absent: {
    labels: { job: 'redis-lock' },
    says: 'Job redis-lock',
    dashboard: `${GRAFANA}/redis-lock-exporter?var-cluster=&var-namespace=&var-job=redis-lock`,
  },
} as const;

/** The file of one proof, relative to `alerts/tests/`. */
export function proofFileName({ alert, variant }: Proof): string {
  return `RedisLock${alert}${variant === undefined ? '' : `-${variant}`}.yml`;
}

/** A test file for promtool: the alert fires with these labels and annotations, then, and only then. */
export function proofFile(proof: Proof, summary: string): string {
  const tests = [
    firing(proof, summary),
    ...Object.entries(proof.alsoFires ?? {}).map(([name, lines]) =>
      onLabels(proof, `fires: ${name}`, lines, [proof.firesAt]),
    ),
    ...ordinaryPolicy(proof),
    ...gap(proof),
    ...restart(proof),
    ...withoutCluster(proof),
    ...quiet(proof),
    ...Object.entries(proof.silent).map(([name, lines]) => silent(proof, `silent: ${name}`, lines)),
  ];
  return testFile(proof.why, tests);
}

/** A test file of the shipped alert rules, with a scrape and an evaluation each minute. */
export function testFile(why: string, tests: readonly object[], minutes = 1): string {
  const file = { rule_files: ['../alert-rules.yml'], evaluation_interval: `${minutes}m`, tests };
  return `# Generated from alerts/source/proofs/ by \`npm run alerts\`; the tests compare. Do not edit.\n# ${why}\n${stringify(file, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

/** Series in promtool's notation. */
export function inputSeries(lines: readonly Line[]): object[] {
  return lines.map((line) => ({
    series: seriesName(line.metric, line.labels),
    values: toNotation(line.values),
  }));
}

/** `metric{label="value"}`. */
export function seriesName(metric: string, labels: Readonly<Record<string, string>>): string {
  const inner = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${metric}{${inner.join(', ')}}`;
}

function firing(proof: Proof, summary: string): object {
  const alertname = `RedisLock${proof.alert}`;
  const at = (minute: number, exp_alerts: object[]) => ({ eval_time: `${minute}m`, alertname, exp_alerts });
  const ends = [
    ...(proof.stillAt === undefined ? [] : [expectFiring(proof, proof.stillAt, true)]),
    ...(proof.goneAt === undefined ? [] : [expectFiring(proof, proof.goneAt, false)]),
  ];
  return {
    name: 'fires, and not before its time',
    interval: '1m',
    input_series: inputSeries(proof.lines),
    alert_rule_test: [
      at(ONSET - 2, []),
      at(proof.notYet, []),
      at(proof.firesAt, [{ exp_labels: labelsOf(proof), exp_annotations: annotationsOf(proof, summary) }]),
    ],
    ...(ends.length === 0 ? {} : { promql_expr_test: ends }),
  };
}

function scopeOf(proof: Proof) {
  return SCOPES[proof.alert === 'ExporterAbsent' ? 'absent' : proof.scope];
}

function labelsOf(proof: Proof): Record<string, string> {
  return { ...scopeOf(proof).labels, ...proof.labels };
}

function annotationsOf(proof: Proof, summary: string): object {
  const { says, dashboard } = scopeOf(proof);
  return {
    summary,
    description: `${says}: ${proof.says}`,
    ...(proof.seenBy === undefined ? {} : { seen_by: proof.seenBy }),
    runbook_url: `${RUNBOOKS}/RedisLock${proof.alert}.md`,
    dashboard_url: dashboard,
  };
}

/** Judges by the series ALERTS: exact labels, whatever the value in the annotations. */
function expectFiring(proof: Proof, minute: number, fires: boolean, drop?: string): object {
  const { [drop ?? '']: _, ...labels } = labelsOf(proof);
  const alertname = `RedisLock${proof.alert}`;
  const series = seriesName('ALERTS', { alertname, alertstate: 'firing', ...labels });
  return {
    expr: `ALERTS{alertname="${alertname}", alertstate="firing"}`,
    eval_time: `${minute}m`,
    exp_samples: fires ? [{ labels: series, value: 1 }] : [],
  };
}

function onLabels(proof: Proof, name: string, lines: readonly Line[], minutes: readonly number[]): object {
  return {
    name,
    interval: '1m',
    input_series: inputSeries(lines),
    promql_expr_test: minutes.map((minute) => expectFiring(proof, minute, true)),
  };
}

/** Policies that ask for nothing special change nothing. */
function ordinaryPolicy(proof: Proof): object[] {
  const about = proof.scope === 'resource' || proof.scope === 'store';
  if (!about || proof.lines.some(({ metric }) => metric === 'redis_lock_resource_info')) return [];
  const lines = [...proof.lines, policyLine({})];
  return [onLabels(proof, 'fires: a resource with an ordinary policy', lines, [proof.firesAt])];
}

function gap(proof: Proof): object[] {
  if (proof.skip?.gap !== undefined) return [];
  if (proof.labels.signal === 'event') {
    const lines = proof.lines.map((line) => withGap(line, ONSET - 5, 10));
    return [
      onLabels(proof, 'fires after a scrape outage of ten minutes in which it happened', lines, [ONSET + 6]),
    ];
  }
  const lines = proof.lines.map((line) => withGap(line, proof.notYet - 1, 1));
  return [onLabels(proof, 'fires across a failed scrape', lines, [proof.firesAt])];
}

function restart(proof: Proof): object[] {
  if (proof.skip?.restart !== undefined) return [];
  if (proof.labels.signal === 'event') {
    const lines = proof.lines.map((line) => withRestart(line, 115));
    return [silent(proof, 'silent: a restart long after', lines, [116, 120, 130])];
  }
  const lines = proof.lines.map((line) => withRestart(line, proof.notYet - 1));
  return [onLabels(proof, 'fires across a restart of the exporter', lines, [proof.firesAt])];
}

function withoutCluster(proof: Proof): object[] {
  if (proof.skip?.cluster !== undefined) return [];
  const lines = proof.lines.map((line) => withoutLabel(line, 'cluster'));
  return [
    {
      name: 'fires without a label cluster',
      interval: '1m',
      input_series: inputSeries(lines),
      promql_expr_test: [expectFiring(proof, proof.firesAt, true, 'cluster')],
    },
  ];
}

function quiet(proof: Proof): object[] {
  if (proof.skip?.traffic !== undefined) return [];
  return [silent(proof, 'silent: no traffic', proof.lines.map(withoutTraffic))];
}

const LOOKS = [ONSET - 10, ONSET, ONSET + 5, 90, 100, 110, 118, 125, MINUTES - 1];

function silent(
  proof: Proof,
  name: string,
  lines: readonly Line[],
  minutes: readonly number[] = LOOKS,
): object {
  return {
    name,
    interval: '1m',
    input_series: inputSeries(lines),
    promql_expr_test: minutes.map((minute) => expectFiring(proof, minute, false)),
  };
}
