// `npm test`: sets up what is missing, then runs every check and every test on real servers.
// Its last line reads "N passed, N failed".
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureDependencies, ensurePrograms, ROOT, requireNode } from './setup.mjs';

requireNode();
ensurePrograms([
  'redis-server',
  'redis-sentinel',
  'prometheus',
  'promtool',
  'prometheus-alertmanager',
  'amtool',
]);
await ensureDependencies();
await ensureDependencies(join('test', 'peers'));

const only = process.argv.slice(2);
let passed = 0;
let failed = 0;

gate('format and lint', ['@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']);
if (gate('types', ['typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json'])) {
  await ensureBuilt();
  runTests();
} else console.log('No test was run, since there is nothing to build.');
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** A check that counts as one test. Returns whether it passed. */
function gate(name, [script, ...args]) {
  const ok = node([script, ...args]);
  console.log(`${ok ? 'ok' : 'FAILED'}: ${name}`);
  count(ok ? 1 : 0, ok ? 0 : 1);
  return ok;
}

/** All of vitest. Its exit code counts as well: a leaked process or an unhandled rejection has no test of its own. */
function runTests() {
  const report = join(ROOT, '.cache', 'vitest.json');
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  rmSync(report, { force: true });
  const ok = node([
    'vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...only,
  ]);
  const result = readReport(report);
  count(result.numPassedTests, result.numFailedTests);
  const skipped = result.numPendingTests + result.numTodoTests;
  if (skipped > 0)
    console.log(`${skipped} tests were skipped, which counts as failed: nothing may be skipped silently.`);
  count(0, skipped);
  if (!ok && failed === 0) count(0, 1);
  if (result.numPassedTests === 0) count(0, 1);
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 };
  }
}

function node([script, ...args]) {
  const path = join(ROOT, 'node_modules', script);
  return (
    spawnSync(process.execPath, [path, ...args], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
      .status === 0
  );
}

function count(more, fewer) {
  passed += more;
  failed += fewer;
}
