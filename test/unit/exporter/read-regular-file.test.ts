import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readRegularFile } from '../../../exporter/read-regular-file.js';
import { makeTempDir, type TempDir } from '../../support/temp-dir.js';

let dir: TempDir;
beforeEach(() => {
  dir = makeTempDir('files');
});
afterEach(() => {
  dir.remove();
});

it('a file is read', () => {
  writeFileSync(join(dir.path, 'token'), 'secret\n');
  expect(readRegularFile(join(dir.path, 'token'))).toBe('secret\n');
});

it('a pipe is refused and not waited for, a folder too', () => {
  execFileSync('mkfifo', [join(dir.path, 'pipe')]);
  mkdirSync(join(dir.path, 'folder'));
  for (const name of ['pipe', 'folder']) {
    expect(() => readRegularFile(join(dir.path, name))).toThrow(
      expect.objectContaining({ code: 'it is no regular file' }),
    );
  }
});

it('a huge file is refused, a missing one said by its code', () => {
  writeFileSync(join(dir.path, 'huge'), Buffer.alloc(1_048_577));
  expect(() => readRegularFile(join(dir.path, 'huge'))).toThrow(
    expect.objectContaining({ code: 'it is larger than 1 MiB' }),
  );
  expect(() => readRegularFile(join(dir.path, 'missing'))).toThrow(
    expect.objectContaining({ code: 'ENOENT' }),
  );
});
