import { spawnChild } from './processes.js';
import { requireBinary } from './require-binary.js';

/** What promtool said. */
export interface PromtoolResult {
  /** True when promtool ended with 0. `check metrics` ends with 3 for lint findings. */
  ok: boolean;
  /** Both outputs, line by line. */
  output: string;
}

/** Pipes an exposition text through `promtool check metrics`: the parser and the linter of Prometheus. */
export function promtoolCheckMetrics(text: string): Promise<PromtoolResult> {
  return promtool(['check', 'metrics'], text);
}

/** Runs promtool with any arguments, `input` on its standard input. Rejects only when it can't be started. */
export async function promtool(args: readonly string[], input = ''): Promise<PromtoolResult> {
  const child = await spawnChild(requireBinary('promtool', 'prometheus'), { args });
  child.write(input);
  child.endInput();
  const { code } = await child.exited;
  return { ok: code === 0, output: [...child.stdout.lines, ...child.stderr.lines].join('\n') };
}
