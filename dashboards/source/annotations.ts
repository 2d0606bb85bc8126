import { increase, sumBy } from './expressions.js';
import type { PromAnnotation } from './grafana-types.js';
import { alerts, family, target } from './metrics.js';
import { DATA_SOURCE, type Due } from './panel-source.js';

/** How often the expression of an annotation is evaluated: an event shorter than that is still seen, counters remember. */
const STEP = '60s';

/** What Redis answers while another server takes over, or right after. */
const FAILOVER_REASONS = 'reason=~"readonly|master_down|loading|cluster_down|no_replicas"';

interface AnnotationSource {
  readonly name: string;
  readonly expr: string;
  readonly colour: string;
  readonly title: string;
  readonly text: string;
  readonly tags: string;
  /** The value is the time of the event, in milliseconds. */
  readonly valueIsTime?: boolean;
  readonly due: Due;
}

/** What is marked on every graph. */
export const ANNOTATIONS: readonly AnnotationSource[] = [
  {
    name: 'RedisLock alerts firing',
    expr: alerts(),
    colour: 'red',
    title: '{{alertname}}',
    text: '{{store}} {{resource}}',
    tags: 'severity,store,resource',
    due: 'trouble',
  },
  {
    name: 'Exporter restarts',
    expr: `${target('process_start_time_seconds')} * 1000`,
    colour: 'blue',
    title: 'Exporter started',
    text: '{{job}} {{instance}}',
    tags: 'instance',
    valueIsTime: true,
    due: 'alive',
  },
  {
    name: 'Redis failovers',
    expr: `${sumBy(['store', 'reason'], increase(family('acquire_failures_total', FAILOVER_REASONS)))} > 0 or max by (store, reason) (${family('up')}) == 0`,
    colour: 'orange',
    title: 'Redis failed over or is away',
    text: '{{store}}: {{reason}}',
    tags: 'store,reason',
    due: 'trouble',
  },
];

/** {@link ANNOTATIONS} as Grafana has them. */
export function annotations(): readonly PromAnnotation[] {
  return ANNOTATIONS.map((source) => ({
    name: source.name,
    datasource: DATA_SOURCE,
    enable: true,
    hide: false,
    iconColor: source.colour,
    target: {
      refId: 'Anno',
      datasource: DATA_SOURCE,
      expr: source.expr,
      editorMode: 'code',
      range: true,
      interval: STEP,
    },
    expr: source.expr,
    step: STEP,
    titleFormat: source.title,
    textFormat: source.text,
    tagKeys: source.tags,
    useValueForTime: source.valueIsTime ?? false,
  }));
}
