import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The fenced blocks of a language in a Markdown text. */
export function codeBlocks(markdown: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...markdown.matchAll(fence)].map(([, text]) => text ?? '');
}

/**
 * Compiles a TypeScript text as a user of the package would: with its public entries, strictly. Returns the faults.
 * The file is written inside the package, where its own name resolves to its exports.
 */
export function compileExample(root: string, name: string, text: string): string[] {
  const folder = join(root, '.cache', 'examples');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, text);
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ['node'],
  };
  const program = ts.createProgram([file], options);
  return ts
    .getPreEmitDiagnostics(program)
    .map((fault) => ts.flattenDiagnosticMessageText(fault.messageText, '\n'));
}

/** The Markdown files that users read, relative to `root`. */
export function readMarkdown(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
