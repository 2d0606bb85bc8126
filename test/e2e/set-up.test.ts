import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spawnChild } from '../support/processes.js';
import { findMarked, RUN_MARK } from '../support/run-mark.js';
import { makeTempDir, type TempDir } from '../support/temp-dir.js';
import { waitFor } from '../support/wait-for.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A package so small that its build takes a moment: the scripts are ours, the sources are not. */
function makePackage(dir: TempDir): void {
  for (const folder of ['scripts', 'lua', 'contract', '.cache']) mkdirSync(join(dir.path, folder));
  cpSync(join(ROOT, 'scripts'), join(dir.path, 'scripts'), { recursive: true });
  cpSync(join(ROOT, 'tsconfig.json'), join(dir.path, 'tsconfig.json'));
  cpSync(join(ROOT, 'tsconfig.build.json'), join(dir.path, 'tsconfig.build.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(dir.path, 'node_modules'));
  writeFileSync(join(dir.path, 'package.json'), '{"type":"module"}');
  writeFileSync(join(dir.path, 'lua', 'a.lua'), 'return 1');
  writeFileSync(join(dir.path, 'contract', 'a.ts'), 'export const a: number = 1;\n');
}

describe('the build', () => {
  let dir: TempDir;
  const build = () =>
    spawnChild(process.execPath, { args: [join(dir.path, 'scripts', 'build.mjs')], cwd: dir.path });

  beforeEach(() => {
    dir = makeTempDir('package');
    makePackage(dir);
  });
  afterEach(() => {
    dir.remove();
  });

  it('of two at once in one folder both succeed, and leave nothing but dist', async () => {
    const builds = await Promise.all([build(), build()]);
    expect(await Promise.all(builds.map((child) => child.exited))).toEqual(
      Array(2).fill({ code: 0, signal: null }),
    );
    expect(readdirSync(join(dir.path, 'dist')).sort()).toEqual(['.built', 'contract', 'lua']);
    expect(readdirSync(join(dir.path, '.cache'))).toEqual([]);
  });

  it('that fails leaves the last good one', async () => {
    await (await build()).exited;
    writeFileSync(join(dir.path, 'contract', 'a.ts'), 'export const a: number = "text";\n');
    expect(await (await build()).exited).toMatchObject({ code: 1 });
    expect(existsSync(join(dir.path, 'dist', 'contract', 'a.js'))).toBe(true);
    expect(readdirSync(join(dir.path, '.cache'))).toEqual([]);
  });

  it('that is stopped stops its compiler too', async () => {
    const mark = `${process.env[RUN_MARK] ?? 'run'}.build-${process.pid}`;
    const args = [join(dir.path, 'scripts', 'build.mjs')];
    const child = await spawnChild(process.execPath, { args, cwd: dir.path, env: { [RUN_MARK]: mark } });
    const compiler = () => findMarked(mark).find(({ command }) => command.includes('bin/tsc'));
    await waitFor(compiler, { what: 'the compiler to run', everyMs: 2 });
    expect(await child.kill('SIGTERM')).toMatchObject({ code: 1 });
    await waitFor(() => findMarked(mark).length === 0, { what: 'the compiler to be gone' });
  });
});

it('a Node that is too old is told in one line, and nothing is begun', () => {
  const script =
    'Object.defineProperty(process.versions, "node", { value: "18.0.0" }); import(process.argv[1])';
  const result = spawnSync(process.execPath, ['-e', script, join(ROOT, 'scripts', 'start.mjs')], {
    encoding: 'utf8',
  });
  expect(result).toMatchObject({ status: 1, stdout: '' });
  expect(result.stderr).toMatch(/^Node\.js 20 or later is needed; this is v[\d.]+\.\n$/);
});
