import { afterAll, inject } from 'vitest';
import { FileGuard } from './file-guard.js';

// Runs in the test process before each test file. Hooks made first run last, so the guard sees what is left
// after all the file's own cleaning up. They don't run for a file all of whose tests are skipped; what such a file
// leaves is found at the end of the run.
const run = inject('rlxRun') as { mark: string; dir: string } | undefined;
if (run !== undefined) process.env.RLX_TEST_DIR = run.dir;
const guard = new FileGuard(run?.mark ?? process.env.RLX_TEST_RUN);

afterAll(() => guard.finish());
