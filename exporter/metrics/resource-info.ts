import type { POLICY_FAMILIES } from './catalogue-policy.js';
import type { FamiliesOf } from './families.js';
import type { LabelNames } from './label-names.js';
import type { ResourcePolicy } from './ports.js';

export type PolicyFamilies = FamiliesOf<typeof POLICY_FAMILIES>;

const MS_PER_SECOND = 1000;

/**
 * Shows the policy of every resource on the page, whether configured or not, so that rules can join it without
 * losing a resource. A configured resource has it from the start: a cron job that never ran must be missed.
 */
export class ResourceInfo {
  readonly #families: PolicyFamilies;
  readonly #policies: ReadonlyMap<string, ResourcePolicy>;
  readonly #byDefault: ResourcePolicy;
  readonly #shown = new Set<string>();

  constructor(
    families: PolicyFamilies,
    policies: ReadonlyMap<string, ResourcePolicy>,
    byDefault: ResourcePolicy,
  ) {
    this.#families = families;
    this.#policies = policies;
    this.#byDefault = byDefault;
  }

  /** Puts the policy of a resource on the page, once. Names are bounded already. */
  show({ store, resource }: LabelNames): void {
    const name = `${store}\0${resource}`;
    if (this.#shown.has(name)) return;
    this.#shown.add(name);
    const { kind, page, expiry, events, intervalMs } = this.#policies.get(resource) ?? this.#byDefault;
    this.#families.resource_info.child([store, resource, kind, String(page), expiry, events]).set(1);
    if (intervalMs === undefined) return;
    this.#families.resource_interval_seconds.child([store, resource]).set(intervalMs / MS_PER_SECOND);
  }
}
