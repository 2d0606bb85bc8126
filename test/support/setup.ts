import { afterAll, inject } from 'vitest';
import { FileGuard } from './file-guard.js';

// Runs in the test process before each test file. Hooks made first run last, so the guard sees what is left
// after all the file's own cleaning up.
const run = inject('rlxRun') as { mark: string; dir: string } | undefined;
if (run !== undefined) process.env.RLX_TEST_DIR = run.dir;
const guard = new FileGuard(run?.mark ?? process.env.RLX_TEST_RUN);

afterAll(() => guard.finish());
