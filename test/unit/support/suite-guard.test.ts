import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildHandle, spawnChild } from '../../support/processes.js';
import { commandOf } from '../../support/run-mark.js';
import { makeTempDir, type TempDir } from '../../support/temp-dir.js';

const script = new URL('./fixtures/run-fixtures.mjs', import.meta.url).pathname;

/** What each broken fixture must be told. */
const broken: Record<string, RegExp> = {
  'leaked-server': /open handle: 1 x TCPServerWrap \(a TCP or HTTP server that listens\)/,
  'leaked-socket': /open handle: 2 x TCPSocketWrap \(a TCP connection\)/,
  'leaked-timer': /open handle: 1 x Timeout/,
  'leaked-process': /leftover process: pid \d+, sleep 301/,
  'registered-process': /leftover process: pid \d+, \S*sleep 302/,
  'unhandled-rejection': /unhandled rejection: Error: nobody waits for me/,
  'uncaught-exception': /uncaught exception: Error: thrown out of nowhere/,
  'max-listeners': /process warning: MaxListenersExceededWarning/,
  'timer-overflow': /process warning: TimeoutOverflowWarning/,
};

/** Stands for /tmp in the runs below. */
let tmp: TempDir;
beforeAll(() => {
  tmp = makeTempDir('tmp');
});
afterAll(() => tmp.remove());

async function runFixtures(...names: string[]): Promise<ChildHandle> {
  const env = { NO_COLOR: '1', FORCE_COLOR: undefined, VITEST: undefined, TMPDIR: tmp.path };
  const child = await spawnChild(process.execPath, { args: [script, ...names], env });
  child.endInput();
  await child.exited;
  return child;
}

/** The part of the report about one fixture. */
function failureOf(child: ChildHandle, name: string): string {
  const parts = child.stderr.text().split(/^ FAIL {2}/m);
  return parts.find((part) => part.startsWith(`test/unit/support/fixtures/${name}.fixture.ts`)) ?? '';
}

/** Command lines that the processes named as leftovers have now: '' when they are gone. */
function leftoversOf(run: ChildHandle): string[] {
  const pids = [...run.stderr.text().matchAll(/leftover process: pid (\d+)/g)].map(([, pid]) => Number(pid));
  return pids.map(commandOf);
}

describe('the checks after each test file', () => {
  let run: ChildHandle;
  beforeAll(async () => {
    run = await runFixtures('clean', ...Object.keys(broken));
  });

  it.each(Object.entries(broken))('fail %s, with the reason', (name, reason) => {
    expect(failureOf(run, name)).toMatch(/this test file left a mess:/);
    expect(failureOf(run, name)).toMatch(reason);
  });

  it('let a clean file pass, end what was left, and fail the run', async () => {
    expect(failureOf(run, 'clean')).toBe('');
    expect(run.stdout.text()).toMatch(/Test Files +9 failed \| 1 passed/);
    expect(await run.exited).toEqual({ code: 1, signal: null });
    expect(leftoversOf(run)).toEqual(['', '']);
  });
});

describe('the check after the whole run', () => {
  it('ends and names a process that no file is to blame for, and fails a run whose tests all passed', async () => {
    const run = await runFixtures('escaped-process');
    expect(run.stdout.text()).toMatch(/Test Files +1 passed/);
    expect(run.stderr.text()).toMatch(
      /this test run left processes behind:\n- leftover process: pid \d+, sleep 303/,
    );
    expect(await run.exited).toEqual({ code: 1, signal: null });
    expect(leftoversOf(run)).toEqual(['']);
  });

  it('removes the folder of the run', async () => {
    expect(readdirSync(tmp.path).filter((name) => name.startsWith('rlx-'))).toEqual([]);
  });
});
