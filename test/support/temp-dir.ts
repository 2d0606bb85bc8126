import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of one test piece; `remove()` may be repeated. */
export interface TempDir {
  path: string;
  remove(): void;
}

/**
 * Makes an empty folder with a short path (a unix socket path may have 107 bytes). During a test run it lies in
 * the run's own folder, which the end of the run removes even when a test process was killed.
 */
export function makeTempDir(name: string): TempDir {
  const path = mkdtempSync(join(process.env.RLX_TEST_DIR ?? tmpdir(), `${name}-`));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}
