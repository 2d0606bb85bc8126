import { writeListenAddress } from '../../contract/listen-address.js';
import type { Config } from './load-config.js';
import { OPTIONS, type OptionName } from './options.js';
import { writeRedisTarget } from './redis-url.js';
import { POLICIES_KEY, writePolicy } from './resource-policy.js';
import { MASK } from './secret.js';
import type { Settings } from './settings.js';
import { writeDuration } from './values.js';

/** How each row's value is written as text; `Settings` decides what it may be, so no row is forgotten. */
const WRITERS: {
  readonly [N in OptionName]: (value: NonNullable<Settings[N]>) => string | readonly string[];
} = {
  redisUrl: writeRedisTarget,
  redisUser: String,
  redisPassword: () => MASK,
  redisPasswordFile: String,
  redisSentinelPasswordFile: String,
  redisCa: String,
  store: String,
  keyPrefixes: (prefixes) => prefixes,
  resourceRules: (rules) => rules.map(({ pattern, name }) => `${pattern}=${name}`),
  sampleMode: String,
  sampleFrom: String,
  sampleSchedule: String,
  sampleDuty: (share) => `${Number((share * 100).toFixed(4))}%`,
  metricsListen: writeListenAddress,
  localListen: writeListenAddress,
  tokenFile: String,
  revealKeys: String,
  firstIncrementHoldMs: writeDuration,
  shutdownGraceMs: writeDuration,
  logLevel: String,
};

/**
 * The settings in force as YAML, each with the origin as a comment, secrets masked, also inside URLs. What is not
 * set is a comment. A row without a YAML key is shown as a comment too.
 */
export function printConfig({ settings, origins }: Config): string {
  const rows = Object.keys(OPTIONS) as OptionName[];
  const lines = rows.map((option) => printRow(option, settings, origins[option]));
  return `${[...lines, ...printPolicies(settings)].join('\n')}\n`;
}

function printRow<N extends OptionName>(option: N, settings: Settings, origin: string): string {
  const { yaml, env } = OPTIONS[option];
  const name = yaml ?? env[0] ?? option;
  const value = settings[option];
  if (value === undefined) return `# ${name} is not set`;
  const written = WRITERS[option](value as NonNullable<Settings[N]>);
  const text =
    typeof written === 'string' ? toYaml(written) : `[${written.map((one) => quoted(one)).join(', ')}]`;
  return `${yaml === null ? '# ' : ''}${name}: ${text} # ${origin}`;
}

function printPolicies({ policies }: Settings): string[] {
  if (policies.size === 0) return [];
  return [
    `${POLICIES_KEY}:`,
    ...[...policies].map(([name, policy]) => `  ${quoted(name)}: ${writePolicy(policy)}`),
  ];
}

/** A switch must stay bare; JSON strings are YAML. */
function toYaml(text: string): string {
  return text === 'true' || text === 'false' ? text : quoted(text);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
