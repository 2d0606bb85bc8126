import type { OptionSpec } from './option.js';
import type { OptionName } from './options.js';
import type { ResourcePolicy } from './resource-policy.js';

/** One option's values as a source gave them, unread. */
export interface Given {
  readonly option: OptionName;
  readonly texts: readonly string[];
  /** `--store`, `REDIS_URL` or `exporter.yaml:3`. */
  readonly origin: string;
}

/** What a source gave, and what is wrong with it. A fault is one line and holds no secret. */
export interface SourceReading {
  readonly given: readonly Given[];
  readonly faults: readonly string[];
  /** The policies of resources; only a settings file has them. */
  readonly policies?: ReadonlyMap<string, ResourcePolicy>;
}

const MAX_QUOTED = 80;

/** Names the value that a fault is about, unless it may hold a secret: `--sample-duty "5"`. */
export function nameValue(origin: string, text: string, spec: OptionSpec): string {
  return spec.secret ? origin : `${origin} ${quote(text)}`;
}

/** The text in quotes on one line, control characters escaped, cut when long. */
export function quote(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED).toWellFormed()}…` : text;
  return JSON.stringify(cut);
}
