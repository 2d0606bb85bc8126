import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type Scalar,
} from 'yaml';
import type { Given, SourceReading } from './given.js';
import type { OptionSpec } from './option.js';
import { OPTIONS, type OptionName } from './options.js';
import { POLICIES_KEY, type PoliciesReading, readPolicies } from './resource-policy.js';
import { suggest } from './suggest.js';
import { describeYamlErrors } from './yaml-faults.js';

/** Largest settings file in UTF-16 units: a settings file has some lines, and parsing must not stall the start. */
const MAX_LENGTH = 262_144;

/**
 * Reads the YAML text of a settings file: one map, whose keys are the flags without their dashes. An unknown key
 * is a fault. Faults name file and line and never quote the text, which may hold a URL with a password.
 */
export function readSettingsFile(text: string, path: string): SourceReading {
  if (text.length > MAX_LENGTH)
    return { given: [], faults: [`${path} is larger than ${MAX_LENGTH} characters`] };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
  const at = (offset: number) => `${path}:${lines.linePos(offset).line}`;
  const unreadable = describeYamlErrors(document, text, at);
  if (unreadable.fatal) return { given: [], faults: unreadable.faults };
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return { given: [], faults: [] };
  if (!isMap(contents)) return { given: [], faults: [`${path} must be a map: one "option: value" a line`] };
  const given: Given[] = [];
  const faults: string[] = [...unreadable.faults];
  let resources: PoliciesReading | undefined;
  for (const { key, value } of contents.items) {
    const origin = at(key.range[0]);
    if (isScalar(key) && key.value === POLICIES_KEY) {
      resources = readPolicies(value, at, origin);
      continue;
    }
    const row = findRow(isScalar(key) ? key.value : undefined);
    const texts = typeof row === 'string' ? row : readTexts(value, row[1]);
    if (typeof row === 'string' || typeof texts === 'string') faults.push(`${origin} ${texts}`);
    else given.push({ option: row[0], texts, origin });
  }
  if (resources === undefined) return { given, faults };
  return { given, faults: [...faults, ...resources.faults], policies: resources.policies };
}

/** The row of a key, or the fault that it has none. */
function findRow(key: unknown): [OptionName, OptionSpec] | string {
  if (typeof key !== 'string') return 'has a key that is no text';
  const rows = Object.entries(OPTIONS) as [OptionName, OptionSpec][];
  const found = rows.find(([, { yaml }]) => yaml === key);
  if (found !== undefined) return found;
  const known = [...rows.flatMap(([, { yaml }]) => yaml ?? []), POLICIES_KEY];
  return `${JSON.stringify(key.slice(0, 64))} is not an option${suggest(key, known)}; --help shows all`;
}

/** The texts of a value, or its fault. */
function readTexts(node: ParsedNode | null, spec: OptionSpec): string[] | string {
  const name = spec.yaml ?? '';
  if (isAlias(node)) return `${name} must be written out, not by an alias`;
  if (isScalar(node)) {
    const text = readScalar(node, spec);
    return typeof text === 'string' ? [text] : `${name} ${text.fault}`;
  }
  if (!isSeq(node) || spec.count !== 'many') return `${name} must be one value: ${spec.range}`;
  const texts: string[] = [];
  for (const item of node.items) {
    const text = isScalar(item) ? readScalar(item, spec) : { fault: 'must be a list of texts' };
    if (typeof text !== 'string') return `${name} ${text.fault}`;
    texts.push(text);
  }
  return texts;
}

/**
 * `60` for a duration goes on as it is written, so that the fault can ask for a unit; for a text it is refused,
 * because YAML reads 007 and 1e3 as numbers.
 */
function readScalar({ value, source }: Scalar, { form }: OptionSpec): string | { fault: string } {
  if (typeof value === 'string') return value;
  if (value === null) return { fault: 'has no value; give one or drop the line' };
  if (form === 'switch' || form === 'duration' || form === 'percentage') return source ?? String(value);
  return { fault: 'must be text: put it in quotes' };
}
