import type { OptionSpec } from './option.js';
import type { OPTIONS, OptionName } from './options.js';
import type { ResourcePolicy } from './resource-policy.js';

type Setting<O> =
  O extends OptionSpec<infer T, infer C> ? { one: T; optional: T | undefined; many: readonly T[] }[C] : never;

/**
 * The values in force, by row of the option table, and the policies of resources. Durations in ms, shares as
 * fractions.
 */
export type Settings = { readonly [N in OptionName]: Setting<(typeof OPTIONS)[N]> } & {
  readonly policies: ReadonlyMap<string, ResourcePolicy>;
};

/** Where a value comes from: `default`, `--store`, `REDIS_URL`, `exporter.yaml:3`. */
export type Origins = { readonly [N in OptionName]: string };
