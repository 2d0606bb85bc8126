import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { judgeImport } from './import-table.js';
import { findCycles, listSources, readAllImports, readImports } from './read-imports.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = [
  'contract',
  'lua',
  'client',
  'exporter',
  'lab',
  'dashboards',
  'alerts/source',
  'docs/generator',
];

describe('who may import whom', () => {
  const lines = readAllImports(ROOT, listSources(ROOT, FOLDERS));

  it('every import is allowed by the table', () => {
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.map(judgeImport).filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('there are no cycles at run time', () => {
    expect(findCycles(lines)).toEqual([]);
  });
});

describe('the gate can fail', () => {
  const judge = (file: string, text: string) => readImports(file, text).map(judgeImport);

  it.each([
    ['contract/a.ts', "import '../client/lease.js'"],
    ['contract/a.ts', "import { Redis } from 'ioredis'"],
    ['client/lease.ts', "import { Redis } from 'ioredis'"],
    ['client/lease.ts', "export { x } from '../exporter/main.js'"],
    ['exporter/ledger/a.ts', "import { performance } from 'node:perf_hooks'"],
    ['exporter/metrics/a.ts', "const x = await import('express')"],
    ['exporter/http/a.ts', "import type { Registry } from 'prom-client'"],
    ['exporter/ingest/a.ts', "import express from 'express'"],
    ['elsewhere/a.ts', "import 'node:fs'"],
  ])('%s: %s is refused', (file, text) => {
    expect(judge(file, text)).toEqual([expect.stringContaining(file)]);
  });

  it.each([
    ['client/lease.ts', "import type { Redis } from 'ioredis'"],
    ['client/connection.ts', "import { Redis } from 'ioredis'"],
    ['exporter/main.ts', "import { createIngest } from './ingest/ingest.js'"],
  ])('%s: %s is allowed', (file, text) => {
    expect(judge(file, text)).toEqual([undefined]);
  });

  it('a cycle is found, one of types only is not', () => {
    const a = readImports('client/a.ts', "import './b.js'");
    const b = readImports('client/b.ts', "import './a.js'");
    const typesOnly = readImports('client/b.ts', "import type { A } from './a.js'");
    expect(findCycles([...a, ...b])).toEqual([['client/a.ts', 'client/b.ts', 'client/a.ts']]);
    expect(findCycles([...a, ...typesOnly])).toEqual([]);
  });
});
