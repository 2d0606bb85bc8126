import { createHash } from 'node:crypto';
import { RedisLockError } from './errors.js';
import { CONTROL_CHARACTERS } from './text.js';

/** Name of the resource when no rule and no segment gives one. */
export const DEFAULT_RESOURCE = 'default';
/** Where resources beyond the cap are counted together. */
export const OTHER_RESOURCE = '__other__';
/** Default number of resources with series of their own. */
export const DEFAULT_RESOURCE_CAP = 200;
/** Longest resource name in UTF-16 units; a longer one is cut and told apart by a hash. */
export const MAX_RESOURCE_LENGTH = 64;
/** Default prefix of lock keys. */
export const DEFAULT_KEY_PREFIX = 'lock:';

const MAX_STARS = 2;
const MAX_MATCHED_LENGTH = 1024;
const CUT_HASH_DIGITS = 8;

/** One rule: keys that match `pattern` belong to the resource `name`. */
export interface ResourceRule {
  /**
   * The whole key: literal text, `*` for any run of characters (at most two), `<word>` for one segment that the
   * name may use. A segment stands between colons, braces or the ends, and has at least one character. (So
   * matching stays at most quadratic in the length looked at, whatever the key.)
   */
  pattern: string;
  /** Literal text, with `$word` for what `<word>` matched. */
  name: string;
}

/** Maps a key, as stored, to its resource. Pure; the same key always gives the same resource. */
export type ResourceClassifier = (key: string | Uint8Array) => string;

/**
 * Reads `PATTERN=NAME`. The last `=` divides, so a pattern may hold one.
 * @throws RedisLockError `invalid_resource_rule`
 */
export function parseResourceRule(text: string): ResourceRule {
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) throw ruleError(text, 'it has no "=" between a pattern and a name');
  const rule = { pattern: text.slice(0, at), name: text.slice(at + 1) };
  compileRule(rule);
  return rule;
}

/**
 * Makes the classifier. Rules are tried in order and the first match wins; without a match the resource is the
 * segment after the prefix when another segment follows (`lock:stock:1` → `stock`), else `default`.
 * Only the first 1,024 characters of a key are looked at.
 * @throws RedisLockError `invalid_resource_rule`
 */
export function createResourceClassifier(
  rules: readonly ResourceRule[] = [],
  keyPrefixes: readonly string[] = [DEFAULT_KEY_PREFIX],
): ResourceClassifier {
  const compiled = rules.map(compileRule);
  return (key) => {
    const text = (typeof key === 'string' ? key : Buffer.from(key).toString('utf8')).slice(
      0,
      MAX_MATCHED_LENGTH,
    );
    for (const rule of compiled) {
      const match = rule.regex.exec(text);
      if (match) return cleanResourceName(rule.render(match.groups ?? {}));
    }
    return cleanResourceName(segmentAfterPrefix(text, keyPrefixes));
  };
}

/**
 * Makes any text fit to be a resource: control characters and broken surrogates replaced, never empty, at most
 * 64 characters, a longer one cut with a hash of the whole so that two long names stay distinct.
 */
export function cleanResourceName(text: string): string {
  const clean = text.toWellFormed().replace(new RegExp(`[${CONTROL_CHARACTERS}]`, 'g'), '_');
  if (clean === '') return DEFAULT_RESOURCE;
  if (clean.length <= MAX_RESOURCE_LENGTH) return clean;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, CUT_HASH_DIGITS);
  return `${clean.slice(0, MAX_RESOURCE_LENGTH - CUT_HASH_DIGITS - 1).toWellFormed()}~${hash}`;
}

/**
 * Keeps the number of distinct resources bounded: the first `cap` keep their name, later ones become `__other__`.
 * A resource once admitted stays, so that its counters never go down.
 */
export class ResourceCap {
  readonly #cap: number;
  readonly #admitted = new Set<string>();
  readonly #overflow = new Set<string>();
  /** Distinct names beyond the cap are counted up to this number, to bound memory. */
  static readonly MAX_COUNTED_OVERFLOW = 50_000;

  constructor(cap: number = DEFAULT_RESOURCE_CAP) {
    this.#cap = cap;
  }

  /** The name to use for `resource`. */
  admit(resource: string): string {
    if (this.#admitted.has(resource) || resource === OTHER_RESOURCE) return resource;
    if (this.#admitted.size < this.#cap) {
      this.#admitted.add(resource);
      return resource;
    }
    if (this.#overflow.size < ResourceCap.MAX_COUNTED_OVERFLOW) this.#overflow.add(resource);
    return OTHER_RESOURCE;
  }

  /** How many distinct resources were seen, those folded into `__other__` included (exact up to cap + 50,000). */
  get distinct(): number {
    return this.#admitted.size + this.#overflow.size;
  }
}

interface CompiledRule {
  regex: RegExp;
  render(groups: Record<string, string>): string;
}

function compileRule(rule: ResourceRule): CompiledRule {
  const captures = new Set<string>();
  let stars = 0;
  const source = rule.pattern.replace(
    /<([A-Za-z][A-Za-z0-9]*)>|([*])|([\s\S])/g,
    (all, word, star, literal, offset) => {
      if (star) stars += 1;
      if (star) return '.*';
      if (word === undefined) return escapeRegex(literal);
      if (captures.has(word)) throw ruleError(rule.pattern, `<${word}> stands in it twice`);
      if (!isWholeSegment(rule.pattern, offset, all.length)) {
        throw ruleError(rule.pattern, `<${word}> is not a whole segment between colons, braces or the ends`);
      }
      captures.add(word);
      return `(?<${word}>[^:{}]+)`;
    },
  );
  if (stars > MAX_STARS) throw ruleError(rule.pattern, `it has more than ${MAX_STARS} "*"`);
  if (rule.name === '') throw ruleError(rule.pattern, 'its name is empty');
  for (const [, word] of rule.name.matchAll(/\$([A-Za-z][A-Za-z0-9]*)/g)) {
    if (!captures.has(word ?? ''))
      throw ruleError(rule.pattern, `its name uses $${word}, but the pattern has no <${word}>`);
  }
  const render = (groups: Record<string, string>) =>
    rule.name.replace(/\$([A-Za-z][A-Za-z0-9]*)/g, (_, word: string) => groups[word] ?? '');
  return { regex: new RegExp(`^${source}$`, 's'), render };
}

function isWholeSegment(pattern: string, offset: number, length: number): boolean {
  const delimiters = ':{}';
  const before = pattern[offset - 1];
  const after = pattern[offset + length];
  return (
    (before === undefined || delimiters.includes(before)) &&
    (after === undefined || delimiters.includes(after))
  );
}

function segmentAfterPrefix(key: string, keyPrefixes: readonly string[]): string {
  const prefix = keyPrefixes.find((candidate) => key.startsWith(candidate));
  if (prefix === undefined) return DEFAULT_RESOURCE;
  const end = key.indexOf(':', prefix.length);
  return end < 0 || end === key.length - 1 ? DEFAULT_RESOURCE : key.slice(prefix.length, end);
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function ruleError(rule: string, fault: string): RedisLockError {
  return new RedisLockError('invalid_resource_rule', `The resource rule "${rule}" cannot be used: ${fault}`);
}
