import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { codeBlocks, compileExample, readMarkdown } from './examples.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

describe('examples in the documentation', () => {
  const blocks = ['README.md', 'docs/client.md'].flatMap((path) =>
    codeBlocks(readMarkdown(ROOT, path), 'ts').map((text, index) => [`${path} ${index + 1}`, text] as const),
  );

  it('exist', () => {
    expect(blocks.length).toBeGreaterThan(0);
  });

  it.each(blocks)('%s compiles', (name, text) => {
    expect(compileExample(ROOT, name.replaceAll(/\W/g, '-'), text)).toEqual([]);
  });

  it('that name what is not there are found out', () => {
    const text = "import { LockClient } from 'redis-lock-exporter/client';\nLockClient.nothing();\n";
    expect(compileExample(ROOT, 'broken', text)).toEqual([expect.stringContaining('nothing')]);
  });
});
