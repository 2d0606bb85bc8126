import type { Reader } from './reading.js';

/** The form of an option's value, for help and reference pages. */
export type OptionForm =
  | 'url'
  | 'text'
  | 'file'
  | 'rule'
  | 'word'
  | 'cron'
  | 'percentage'
  | 'duration'
  | 'address'
  | 'switch';

/**
 * How many values an option has: `one` always has one, by its default; `optional` has one or none; `many` may be
 * repeated (in the environment values are divided by commas, in the file they are a list).
 */
export type Count = 'one' | 'optional' | 'many';

/** One row of the option table. Everything that is said or read about an option comes from here. */
export interface OptionSpec<T = unknown, C extends Count = Count> {
  /** `--name`, or null where a value on the command line would show a secret to every process of the machine. */
  readonly flag: `--${string}` | null;
  /** Environment variables; the first that is set wins. An empty variable counts as not set. */
  readonly env: readonly string[];
  /** Key in the YAML file: the flag without its dashes. Null: not in the file. */
  readonly yaml: string | null;
  readonly form: OptionForm;
  /** Unit and range of the value, or the words it may be. */
  readonly range: string;
  /** As one would write it; empty for none. */
  readonly default: readonly string[];
  readonly count: C;
  /** Masked wherever the configuration is printed. */
  readonly secret: boolean;
  /** What it does, in full sentences. */
  readonly description: string;
  /** First version with this option. */
  readonly since: string;
  /** The part of the exporter that reads it. */
  readonly usedBy: 'sampler' | 'resources' | 'http' | 'metrics' | 'process';
  readonly read: Reader<T>;
}

/** A row with what differs from the usual; see {@link defineOption}. */
export type OptionRow<T, C extends Count> = Omit<
  OptionSpec<T, C>,
  'env' | 'yaml' | 'default' | 'secret' | 'since'
> &
  Partial<Pick<OptionSpec<T, C>, 'env' | 'yaml' | 'default' | 'secret' | 'since'>>;

/**
 * Fills in a row's usual parts: the variable `REDIS_LOCK_` + the flag in capitals, the flag's name as YAML key,
 * no default, no secret, since 0.1.0.
 */
export function defineOption<T, const C extends Count>(row: OptionRow<T, C>): OptionSpec<T, C> {
  const name = row.flag?.slice(2) ?? null;
  const env = name === null ? [] : [variableOf(name)];
  return { env, yaml: name, default: [], secret: false, since: '0.1.0', ...row };
}

/** `REDIS_LOCK_SAMPLE_DUTY` for `sample-duty`. */
export function variableOf(name: string): string {
  return `REDIS_LOCK_${name.replaceAll('-', '_').toUpperCase()}`;
}
