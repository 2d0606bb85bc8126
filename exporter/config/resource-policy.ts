import { isMap, isScalar, type ParsedNode } from 'yaml';
import { cleanResourceName } from '../../contract/resource.js';
import { quote } from './given.js';
import { bad, good, type Reader, type Reading } from './reading.js';
import { suggest } from './suggest.js';
import { choiceReader, durationReader, readSwitch, writeDuration } from './values.js';

/** Key of the policies in the settings file. */
export const POLICIES_KEY = 'resources';
/** Most resources with a policy: as many as may have series of their own, and some to spare. */
const MAX_POLICIES = 1000;

/** What a lock is for. `mutex`: callers need it; `try`: callers do without; `cron`: one of many runs a job; `leader`: held for good. */
export const RESOURCE_KINDS = ['mutex', 'try', 'cron', 'leader'] as const;
export const EXPIRIES = ['required', 'optional'] as const;
/** Whether clients report events about the locks, or another library takes them and only samples see them. */
export const EVENTS = ['expected', 'none'] as const;

/** How alerts judge the locks of one resource, so that nobody has to change a rule for it. */
export interface ResourcePolicy {
  readonly kind: (typeof RESOURCE_KINDS)[number];
  /** False: alerts about it open a ticket and page nobody. */
  readonly page: boolean;
  /** `required`: a key without expiry is critical. */
  readonly expiry: (typeof EXPIRIES)[number];
  /** `none`: nobody reports events about these locks, so that their silence is no fault. */
  readonly events: (typeof EVENTS)[number];
  /** Longest time between two acquires, in ms. Only with kind `cron`. */
  readonly intervalMs: number | undefined;
}

/** What counts for a resource, or a field, that the file does not name. */
export const DEFAULT_POLICY: ResourcePolicy = {
  kind: 'mutex',
  page: true,
  expiry: 'optional',
  events: 'expected',
  intervalMs: undefined,
};

/** One field of a policy. */
interface PolicyField {
  readonly range: string;
  readonly default: string;
  readonly description: string;
  readonly read: Reader<Partial<ResourcePolicy>>;
}

/** The fields of a policy, by their keys. The options page comes from here too. */
export const POLICY_FIELDS: Readonly<Record<string, PolicyField>> = {
  kind: {
    range: 'mutex, try, cron or leader',
    default: DEFAULT_POLICY.kind,
    description:
      'What the lock is for. cron and leader are contended by design, leader is held for good: the alerts that would fire for that leave them out.',
    read: as(choiceReader(RESOURCE_KINDS), (kind) => ({ kind })),
  },
  page: {
    range: 'true or false',
    default: String(DEFAULT_POLICY.page),
    description:
      'false: alerts about this resource carry page="false", and the example routes open a ticket.',
    read: as(readSwitch, (page) => ({ page })),
  },
  expiry: {
    range: 'required or optional',
    default: DEFAULT_POLICY.expiry,
    description: 'required: a key without expiry is critical and not only a warning.',
    read: as(choiceReader(EXPIRIES), (expiry) => ({ expiry })),
  },
  events: {
    range: 'expected or none',
    default: DEFAULT_POLICY.events,
    description:
      'none: another library takes these locks and nothing reports events about them, so the alert on missing events leaves them out.',
    read: as(choiceReader(EVENTS), (events) => ({ events })),
  },
  interval: {
    range: '1m to 800h; only with kind cron',
    default: '–',
    description: 'Longest time between two acquires. Beyond it the job counts as not run.',
    read: as(durationReader(60_000, 2_880_000_000), (intervalMs) => ({ intervalMs })),
  },
};

/** The policies of a settings file by resource, and what is wrong with them. */
export interface PoliciesReading {
  readonly policies: ReadonlyMap<string, ResourcePolicy>;
  readonly faults: readonly string[];
}

/**
 * Reads the value of `resources`: a map from a resource to a map of {@link POLICY_FIELDS}.
 * @param at names file and line of an offset
 */
export function readPolicies(
  node: ParsedNode | null,
  at: (offset: number) => string,
  origin: string,
): PoliciesReading {
  const policies = new Map<string, ResourcePolicy>();
  if (!isMap(node))
    return { policies, faults: [`${origin} ${POLICIES_KEY} must be a map from resources to their policy`] };
  if (node.items.length > MAX_POLICIES)
    return { policies, faults: [`${origin} ${POLICIES_KEY} has more than ${MAX_POLICIES} entries`] };
  const faults: string[] = [];
  for (const { key, value } of node.items) {
    const line = at((key as ParsedNode).range[0]);
    const reading = readPolicy(isScalar(key) ? key.value : undefined, value as ParsedNode | null);
    if (reading.ok) policies.set(...reading.value);
    else faults.push(`${line} ${POLICIES_KEY}: ${reading.fault}`);
  }
  return { policies, faults };
}

function readPolicy(name: unknown, value: ParsedNode | null): Reading<[string, ResourcePolicy]> {
  if (typeof name !== 'string' || cleanResourceName(name) !== name) {
    return bad('the name of a resource must be text of 1 to 64 characters without control characters');
  }
  if (!isMap(value)) return bad(`${quote(name)} must be a map of ${Object.keys(POLICY_FIELDS).join(', ')}`);
  let policy = DEFAULT_POLICY;
  for (const { key, value: fieldValue } of value.items) {
    const reading = readField(isScalar(key) ? key.value : undefined, fieldValue as ParsedNode | null);
    if (!reading.ok) return bad(`${quote(name)} ${reading.fault}`);
    policy = { ...policy, ...reading.value };
  }
  if (policy.kind === 'cron' || policy.intervalMs === undefined) return good([name, policy]);
  return bad(`${quote(name)} interval goes with kind cron only`);
}

function readField(key: unknown, value: ParsedNode | null): Reading<Partial<ResourcePolicy>> {
  const field = typeof key === 'string' && Object.hasOwn(POLICY_FIELDS, key) ? POLICY_FIELDS[key] : undefined;
  if (field === undefined)
    return bad(
      `has an unknown field ${quote(String(key))}${suggest(String(key), Object.keys(POLICY_FIELDS))}`,
    );
  if (!isScalar(value)) return bad(`${String(key)} must be one value: ${field.range}`);
  const reading = field.read(value.source ?? String(value.value));
  return reading.ok ? reading : bad(`${String(key)} ${reading.fault}`);
}

/** A policy as it may be written in the file, on one line. */
export function writePolicy({ kind, page, expiry, events, intervalMs }: ResourcePolicy): string {
  const interval = intervalMs === undefined ? '' : `, interval: ${writeDuration(intervalMs)}`;
  return `{ kind: ${kind}, page: ${page}, expiry: ${expiry}, events: ${events}${interval} }`;
}

function as<T>(read: Reader<T>, put: (value: T) => Partial<ResourcePolicy>): Reader<Partial<ResourcePolicy>> {
  return (text) => {
    const reading = read(text);
    return reading.ok ? good(put(reading.value)) : reading;
  };
}
