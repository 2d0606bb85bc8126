import type { z } from 'zod';
import type { RejectReason } from '../../contract/refusals.js';

/** What is wrong with a field. Says what is wanted; never repeats what was sent, which may be a secret. */
export interface Fault {
  readonly reason: RejectReason;
  /** Dotted path of the field, empty for the whole. */
  readonly path: string;
  readonly message: string;
}

type Issue = z.core.$ZodIssue;

/** A path holds names of the contract only, but for the reasons in `dropped`: these a batch may choose. */
const MAX_PATH_LENGTH = 100;
const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Tells an issue of zod's in plain words. @param input what was checked */
export function describeIssue(issue: Issue, input: unknown): Fault {
  const path = issue.path.map(String).join('.').slice(0, MAX_PATH_LENGTH);
  return { path, ...describeValue(issue, readPath(input, issue.path)) };
}

function describeValue(issue: Issue, value: unknown): Omit<Fault, 'path'> {
  if (value === undefined) return { reason: 'missing_field', message: 'is missing' };
  switch (issue.code) {
    case 'invalid_type':
      return { reason: 'wrong_type', message: `must be ${typeWords(issue.expected)}${sentWords(value)}` };
    case 'invalid_value':
      return { reason: wordReason(value), message: `must be ${listWords(issue.values)}` };
    case 'invalid_union':
      return { reason: wordReason(value), message: `must be ${listWords(unionWords(issue))}` };
    case 'too_small':
      return { reason: 'out_of_range', message: ownMessage(issue) ?? `must ${least(issue)}` };
    case 'too_big':
      return { reason: 'out_of_range', message: ownMessage(issue) ?? `must ${most(issue)}` };
    case 'invalid_key':
      return { reason: 'bad_format', message: 'must have names of 1 to 32 of a-z _' };
    default:
      return { reason: 'bad_format', message: ownMessage(issue) ?? 'cannot be read' };
  }
}

/** The contract's own message, where it has one: zod's begin with these words. */
function ownMessage(issue: Issue): string | undefined {
  if (/^(Invalid|Too|Unrecognized)/.test(issue.message)) return undefined;
  return issue.message;
}

function least({ origin, minimum }: Issue & { code: 'too_small' }): string {
  return origin === 'string' ? `hold at least ${minimum} character(s)` : `be at least ${minimum}`;
}

function most({ origin, maximum }: Issue & { code: 'too_big' }): string {
  return origin === 'string' ? `hold at most ${maximum} characters` : `be at most ${maximum}`;
}

function typeWords(expected: string): string {
  return TYPE_WORDS[expected] ?? expected;
}

function sentWords(value: unknown): string {
  if (value === null) return ', not null';
  return typeof value === 'string' ? ', not text' : '';
}

function wordReason(value: unknown): RejectReason {
  return typeof value === 'string' ? 'unknown_word' : 'wrong_type';
}

function listWords(words: readonly unknown[]): string {
  return words.length === 1 ? String(words[0]) : `one of ${words.join(', ')}`;
}

function unionWords(issue: Issue & { code: 'invalid_union' }): readonly unknown[] {
  return 'options' in issue && Array.isArray(issue.options) ? issue.options : ['another word'];
}

function readPath(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
