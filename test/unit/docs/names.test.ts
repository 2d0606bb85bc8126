import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TIMELINE_USAGE } from '../../../exporter/cli/timeline-command.js';
import { ACTIONS, OPTIONS } from '../../../exporter/config/options.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Flags of other programs that our pages name. */
const OTHERS = [
  '--storage',
  '--cluster',
  '--minutes',
  '--rounds',
  '--turn-ms',
  '--build',
  '--profile',
  '--web',
  '--alert',
  '--max-semi-space-size',
  '--save-dev',
];
/** Codes of Node's process warnings that the client emits. */
const WARNING_CODES = /^REDIS_LOCK_(CONNECTION|UNSAFE|OPTIONS|[A-Z]*WARNING)/;

const rows = [...Object.values(OPTIONS), ...Object.values(ACTIONS)];
const flags = new Set<string>([
  ...rows.flatMap(({ flag }) => flag ?? []),
  ...(TIMELINE_USAGE.match(/--[a-z][a-z-]*/g) ?? []),
]);
const variables = new Set<string>(rows.flatMap(({ env }): readonly string[] => env));

const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The flags and variables in a text that no option has. */
function strangers(text: string): string[] {
  const named = text.match(/(?<![\w-])--[a-z][a-z-]*[a-z]/g) ?? [];
  const inCapitals = text.match(/\bREDIS_LOCK_[A-Z_]+/g) ?? [];
  return [
    ...named.filter((flag) => !flags.has(flag) && !OTHERS.includes(flag)),
    ...inCapitals.filter((name) => !variables.has(name) && !WARNING_CODES.test(name)),
  ];
}

describe('pages name only options that there are', () => {
  it.each(pages)('%s', (page) => {
    expect(strangers(readFileSync(join(ROOT, page), 'utf8'))).toEqual([]);
  });

  it('a flag or variable that is none is found out', () => {
    expect(strangers('set `--stor` or REDIS_LOCK_STOR, not --store')).toEqual(['--stor', 'REDIS_LOCK_STOR']);
  });
});
