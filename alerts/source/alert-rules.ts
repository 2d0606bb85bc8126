import { acquireAlerts } from './alerts-acquire.js';
import { exporterAlerts } from './alerts-exporter.js';
import { leaseAlerts } from './alerts-lease.js';
import { ownershipAlerts } from './alerts-ownership.js';
import { redisAlerts } from './alerts-redis.js';
import { duration, indent, policy } from './promql.js';
import type { AlertRule, AlertSpec, RuleGroup, RuleOptions, Scope } from './rule.js';
import type { Thresholds } from './thresholds.js';

/** The name that every alert begins with. */
const PREFIX = 'RedisLock';

/**
 * All alert rules, in one group: an alert never waits for another group's results. An alert that may page for a
 * resource is two rules of one name: its resource's policy decides which of them holds, by set operators that
 * cannot fail when exporters disagree.
 */
export function alertRules(thresholds: Thresholds, options: RuleOptions): RuleGroup<AlertRule> {
  const specs = [
    ...ownershipAlerts(thresholds),
    ...acquireAlerts(thresholds),
    ...leaseAlerts(thresholds, options.job),
    ...redisAlerts(thresholds),
    ...exporterAlerts(thresholds, options.job),
  ];
  const rules = specs.flatMap((spec) => toRules(spec, thresholds, options));
  return { name: 'redis-lock-alerts', interval: duration(thresholds.durations.evaluation), rules };
}

function toRules(spec: AlertSpec, thresholds: Thresholds, options: RuleOptions): AlertRule[] {
  if (spec.severity !== 'critical') return [toRule(spec, spec.expr, 'false', thresholds, options)];
  if (spec.scope !== 'resource') return [toRule(spec, spec.expr, 'true', thresholds, options)];
  const noPage = policy('page="false"', thresholds.durations.policyWindow);
  return [
    toRule(spec, `${spec.expr}\nunless\n${noPage}`, 'true', thresholds, options),
    toRule(spec, `(\n  ${indent(spec.expr)}\n)\nand\n${noPage}`, 'false', thresholds, options),
  ];
}

function toRule(
  spec: AlertSpec,
  expr: string,
  page: 'true' | 'false',
  { durations }: Thresholds,
  { links }: RuleOptions,
): AlertRule {
  const { name, severity, subject, signal, pending, keep } = spec;
  return {
    alert: `${PREFIX}${name}`,
    expr,
    ...(pending === undefined ? {} : { for: duration(pending) }),
    ...(keep === undefined ? {} : { keep_firing_for: duration(keep) }),
    labels: { severity, page, subject, signal, ...spec.labels },
    annotations: {
      summary: spec.summary,
      description: `${SUBJECTS[spec.scope]}: ${spec.says}`,
      ...(spec.seenBy === undefined ? {} : { seen_by: seenBy(spec.seenBy, durations.eventWindow) }),
      runbook_url: `${links.runbooks}/${PREFIX}${name}.md`,
      dashboard_url: `${links.grafana}/d/${DASHBOARDS[spec.scope]}`,
    },
  };
}

const SUBJECTS: Readonly<Record<Scope, string>> = {
  resource: 'Lock resource {{ $labels.resource }} in store {{ $labels.store }} (job {{ $labels.job }})',
  store: 'Store {{ $labels.store }} (job {{ $labels.job }})',
  job: 'Job {{ $labels.job }}',
  instance: 'Exporter {{ $labels.instance }} (job {{ $labels.job }})',
};

const VARIABLES =
  'var-cluster={{ $labels.cluster | urlquery }}&var-namespace={{ $labels.namespace | urlquery }}&var-job={{ $labels.job | urlquery }}';
const STORE_VARIABLES = `${VARIABLES}&var-store={{ $labels.store | urlquery }}`;

const DASHBOARDS: Readonly<Record<Scope, string>> = {
  resource: `redis-lock-resource?${STORE_VARIABLES}&var-resource={{ $labels.resource | urlquery }}`,
  store: `redis-lock-overview?${STORE_VARIABLES}`,
  job: `redis-lock-exporter?${VARIABLES}`,
  instance: `redis-lock-exporter?${VARIABLES}&var-instance={{ $labels.instance | urlquery }}`,
};

/** Which exporters counted it: of a sidecar, this names the pod. A label that is missing is an empty one to PromQL. */
function seenBy(counter: string, window: number): string {
  const labels = ['cluster', 'namespace', 'job', 'store', 'resource'];
  const matchers = labels.map((label) => `${label}=%q`).join(',');
  const query = `sum by (instance) (increase(${counter}{${matchers}}[${duration(window)}])) > 0`;
  const values = labels.map((label) => `$labels.${label}`).join(' ');
  return `{{ range $i, $s := query (printf "${query}" ${values}) }}{{ if $i }}, {{ end }}{{ $s.Labels.instance }}{{ end }}`;
}
