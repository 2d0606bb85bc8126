// Lets Node run the TypeScript of test/bench/ where it lies: types are stripped file by file, as `isolatedModules`
// allows, and `./x.js` finds `./x.ts`. Used by scripts/bench.mjs, which has typescript installed.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const compilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
};

export function resolve(specifier, context, next) {
  if (!specifier.startsWith('.') || !specifier.endsWith('.js') || !context.parentURL) {
    return next(specifier, context);
  }
  const url = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
  return existsSync(url) ? next(url.href, context) : next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const fileName = fileURLToPath(url);
  const { outputText } = ts.transpileModule(readFileSync(fileName, 'utf8'), { fileName, compilerOptions });
  return { format: 'module', source: outputText, shortCircuit: true };
}
