/** An alerting rule in the form of Prometheus's rule files. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A recording rule. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** One group; its rules are evaluated in their order. */
export interface RuleGroup<Rule> {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly Rule[];
}

/** What an alert's labels may be: `subject` groups alerts that tell of the same fault, for inhibition. */
export type Subject =
  | 'ownership'
  | 'fencing'
  | 'acquire'
  | 'lease'
  | 'renewal'
  | 'expiry'
  | 'schedule'
  | 'hot'
  | 'redis'
  | 'events'
  | 'foreign'
  | 'exporter';

/** Whom an alert is about; its labels, and the dashboard it links to, follow from it. */
export type Scope = 'resource' | 'store' | 'job' | 'instance';

/** One alert before policies and links: what `alert-rules.ts` makes rules of. */
export interface AlertSpec {
  /** Without the prefix RedisLock. */
  readonly name: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly subject: Subject;
  /** `event`: something happened, there is no "resolved"; `state`: it lasts, and ends. */
  readonly signal: 'event' | 'state';
  readonly scope: Scope;
  readonly expr: string;
  /** Seconds. */
  readonly pending?: number;
  /** Seconds. */
  readonly keep?: number;
  readonly summary: string;
  /** The sentence after "Lock resource … in store … (job …): ". */
  readonly says: string;
  /** Labels beyond the usual ones. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Selector of the counter whose exporters are named in the annotation `seen_by`. */
  readonly seenBy?: string;
}

/** Where the pages and dashboards are published, without a slash at the end. */
export interface Links {
  readonly runbooks: string;
  readonly grafana: string;
}

/** What the rules are made from. */
export interface RuleOptions {
  /** The value of `job` under which Prometheus scrapes the exporters. */
  readonly job: string;
  readonly links: Links;
}

/** The shipped values. `example.com` never resolves to anything of somebody else's: give the own addresses to `write.ts`. */
export const DEFAULT_OPTIONS: RuleOptions = {
  job: 'redis-lock',
  links: { runbooks: 'https://runbooks.example.com/redis-lock', grafana: 'https://grafana.example.com' },
};
