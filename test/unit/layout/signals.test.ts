import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['client', 'exporter', 'lab', 'scripts', 'test'];
const HELPER = 'test/support/signal-process.ts';

/** Lines that send a signal by number. Only to oneself is that safe: 0 is the whole group, -1 everybody. */
function strayKills(file: string, text: string): string[] {
  const lines = text.split('\n').map((line, index) => ({ line, at: `${file}:${index + 1}` }));
  return lines
    .filter(({ line }) => /(?<![.\w])process\.kill\((?!process\.pid\b)/.test(line))
    .map(({ at }) => at);
}

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listFiles(path);
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : [];
  });
}

describe('signals by pid', () => {
  it('go through the one helper that refuses 0 and -1: a missing pid once ended the whole CI run', () => {
    const files = FOLDERS.flatMap(listFiles).filter((file) => file !== HELPER && !file.includes('/layout/'));
    expect(files.length).toBeGreaterThan(200);
    expect(files.flatMap((file) => strayKills(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
  });

  it('the gate can fail', () => {
    expect(strayKills('a.ts', "ok();\nprocess.kill(found?.pid ?? 0, 'SIGKILL');")).toEqual(['a.ts:2']);
    expect(strayKills('a.ts', "process.kill(process.pid, 'SIGTERM');")).toEqual([]);
  });
});
