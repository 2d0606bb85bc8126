import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { describeLeftover } from './file-guard.js';
import { childMark, findMarked, type MarkedProcess, RUN_MARK } from './run-mark.js';
import { signalProcess } from './signal-process.js';

/** How long processes may take to go away after the last test file, in ms. */
const SETTLE_MS = 2000;

declare module 'vitest' {
  interface ProvidedContext {
    /** Mark of all processes of this run, and the folder of its temporary files. */
    rlxRun: { mark: string; dir: string };
  }
}

/**
 * Gives the run its mark and its folder. The function it returns, called at the end of the run, ends every
 * process that still carries the mark, removes the folder, and fails the run when there was such a process.
 */
export function setup(project: TestProject): () => Promise<void> {
  const mark = childMark(process.env[RUN_MARK], 'r');
  const dir = mkdtempSync(join(tmpdir(), 'rlx-'));
  project.provide('rlxRun', { mark, dir });
  return async () => {
    const leftovers = await settled(mark);
    for (const { pid } of leftovers) signalProcess(pid, 'SIGKILL');
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    if (leftovers.length === 0) return;
    process.exitCode = 1;
    throw new Error(
      `this test run left processes behind:\n- ${leftovers.map(describeLeftover).join('\n- ')}`,
    );
  };
}

async function settled(mark: string): Promise<MarkedProcess[]> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const leftovers = findMarked(mark);
    if (leftovers.length === 0 || performance.now() >= deadline) return leftovers;
    await sleep(50);
  }
}
