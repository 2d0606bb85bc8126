import type { Given, SourceReading } from './given.js';
import type { OptionSpec } from './option.js';
import { ACTIONS, OPTIONS, type OptionName } from './options.js';
import { suggest } from './suggest.js';

/** An environment, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const OWN_PREFIX = 'REDIS_LOCK_';
/** What Kubernetes puts into every pod of a namespace with a service called `redis-lock-…`. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/;

/**
 * Reads the environment. An empty variable counts as not set, because deployment templates write it for "no
 * value". A variable `REDIS_LOCK_…` that no option knows is a fault.
 */
export function readVariables(env: Environment): SourceReading & { readonly file: string | undefined } {
  const given: Given[] = [];
  for (const [option, spec] of Object.entries(OPTIONS) as [OptionName, OptionSpec][]) {
    const origin = spec.env.find((name) => env[name]);
    const text = origin === undefined ? undefined : env[origin];
    if (origin === undefined || text === undefined) continue;
    given.push({ option, origin, texts: spec.count === 'many' ? text.split(',') : [text] });
  }
  return { given, faults: unknownVariables(env), file: env[ACTIONS.config.env[0]] || undefined };
}

function unknownVariables(env: Environment): string[] {
  const known = [...Object.values(OPTIONS), ...Object.values(ACTIONS)].flatMap(
    (row): readonly string[] => row.env,
  );
  return Object.keys(env)
    .filter((name) => name.startsWith(OWN_PREFIX) && !known.includes(name) && !SERVICE_LINK.test(name))
    .map((name) => `variable ${name.slice(0, 80)} is not an option${suggest(name, known)}; --help shows all`);
}
