import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { AlertRule } from '../../../alerts/source/rule.js';
import { promtool } from '../../support/promtool.js';
import { makeTempDir } from '../../support/temp-dir.js';

/** Rules, and a test file of promtool for them. */
export interface PromtoolCase {
  readonly name: string;
  readonly rules: readonly AlertRule[];
  /** YAML; its `rule_files` says `../alert-rules.yml`. */
  readonly test: string;
}

/** A case that failed, with all that promtool said in its batch. */
export interface FailedCase {
  readonly name: string;
  readonly output: string;
}

/**
 * Runs many test files in as many promtool processes as there are workers, because starting one costs as much as a
 * test. @returns the cases that failed, in their order
 */
export async function failedCases(cases: readonly PromtoolCase[], workers = 2): Promise<FailedCase[]> {
  const dir = makeTempDir('promtool');
  try {
    return await runCases(cases, dir.path, workers);
  } finally {
    dir.remove();
  }
}

async function runCases(
  cases: readonly PromtoolCase[],
  root: string,
  workers: number,
): Promise<FailedCase[]> {
  const paths = cases.map((one, index) => writeCase(root, String(index), one));
  const shares = Array.from({ length: workers }, (_, share) => paths.filter((_, n) => n % workers === share));
  const outputs = await Promise.all(shares.filter(({ length }) => length > 0).map(runShare));
  const passed = new Set(outputs.flatMap(passedPaths));
  return cases.flatMap(({ name }, index) => {
    const path = paths[index] ?? '';
    const output = outputs.find((text) => text.includes(path)) ?? '';
    return passed.has(path) ? [] : [{ name, output }];
  });
}

/** The test groups of a file whose names the filter lets through. */
export function onlyGroups(test: string, keep: (name: string) => boolean): string {
  const file = parse(test) as { tests: { name: string }[] };
  return JSON.stringify({ ...file, tests: file.tests.filter(({ name }) => keep(name)) });
}

function writeCase(root: string, index: string, { rules, test }: PromtoolCase): string {
  const tests = join(root, index, 'tests');
  mkdirSync(tests, { recursive: true });
  // Every JSON text is YAML.
  writeFileSync(
    join(root, index, 'alert-rules.yml'),
    JSON.stringify({ groups: [{ name: 'redis-lock-alerts', rules }] }),
  );
  writeFileSync(join(tests, 'test.yml'), test);
  return join(tests, 'test.yml');
}

async function runShare(paths: readonly string[]): Promise<string> {
  return (await promtool(['test', 'rules', ...paths])).output;
}

/** promtool writes `Unit Testing:  path`, and `SUCCESS` after it, on its output; failures on the other one. */
function passedPaths(output: string): string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.flatMap((line, index) => {
    const path = /^Unit Testing: +(.*)$/.exec(line)?.[1];
    return path !== undefined && lines[index + 1]?.trim() === 'SUCCESS' ? [path] : [];
  });
}
